//! The coefficients of the model. `eval relevance --fit` printed those of HYBRID and KEYWORD, when the lead counted in
//! full for every memory.

/// The embedding model that cosines are calibrated for: the hash of its fingerprint.
pub const SHIPPED_EMBEDDER: &str = "4e9da7c1c53618a4b6ec92ea6fae126f645bd12b3ad2a782598a5374243c0811";

/// The coefficients of the features. Only the intercept may be negative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficients {
    pub intercept: f64,
    pub cosine: f64,
    pub terms: f64,
    pub saturation: f64,
    pub lead: f64,
    pub margin: f64,
    pub agreement: f64,
    pub crowd: f64,
}

impl Coefficients {
    pub const HYBRID: Self = Self {
        intercept: -3.58,
        cosine: 3.15,
        terms: 0.00,
        saturation: 0.00,
        lead: 6.32,
        margin: 4.82,
        agreement: 4.44,
        crowd: 1.28,
    };
    pub const KEYWORD: Self = Self {
        intercept: -2.00,
        cosine: 0.00,
        terms: 0.00,
        saturation: 0.00,
        lead: 0.00,
        margin: 12.16,
        agreement: 0.00,
        crowd: 1.15,
    };
    /// The coefficients for vectors alone. A model of the program fitted them to an earlier state of the same sets.
    pub const VECTOR: Self = Self {
        intercept: -4.01,
        cosine: 1.13,
        terms: 0.00,
        saturation: 0.00,
        lead: 13.45,
        margin: 0.00,
        agreement: 0.00,
        crowd: 0.87,
    };

    /// Returns the coefficients in the order of [`super::Features::all`].
    pub fn all(&self) -> [f64; 6] {
        [self.cosine, self.terms, self.saturation, self.lead, self.margin, self.agreement]
    }
}
