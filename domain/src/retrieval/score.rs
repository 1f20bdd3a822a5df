//! The score of a memory for a query: components in 0..1, weighted into a base score, multiplied by factors.
//! Profiles are data; `why` repeats every number, so that a reader can multiply them out again.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::confidence::{Evidence, confidence};
use crate::evidence::fading::{days_between, usage_part};
use crate::memory::label::label_key;
use crate::memory::signature::Signature;
use crate::memory::{Facts, MemoryOutcome, Scope};
use crate::retrieval::fusion::{Fused, ListEntry};
use crate::retrieval::relevance::Features;

/// The weights of the components. All are at least 0 and their sum is above 0; they need not add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Weights {
    pub similarity: f64,
    pub recency: f64,
    pub error_context: f64,
    pub success: f64,
    pub access: f64,
    pub domain: f64,
}

impl Weights {
    pub const COMPOSITE: Self =
        Self { similarity: 0.6, recency: 0.3, error_context: 0.1, success: 0.0, access: 0.0, domain: 0.0 };
    const SIMILARITY: Self =
        Self { similarity: 1.0, recency: 0.0, error_context: 0.0, success: 0.0, access: 0.0, domain: 0.0 };
    const EPISODIC: Self =
        Self { similarity: 0.5, recency: 0.2, error_context: 0.0, success: 0.15, access: 0.1, domain: 0.05 };
}

/// The factors that multiply the base score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Factors {
    None,
    /// The base score is multiplied by `(0.5 + 0.5·confidence) × scope weight`.
    ConfidenceAndScope,
    /// The base score is multiplied by `confidence × recency boost × scope weight`.
    Cascade,
}

/// A named way to score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(description = "")] // said to models at every argument of this type
pub enum ProfileName {
    /// Weighs similarity, recency and error context; multiplies by confidence and scope.
    #[default]
    Composite,
    /// Takes similarity alone, and answers with the items of the best trace, as in the ReasoningBank paper.
    Paper,
    /// Multiplies similarity, confidence, recency boost and scope weight.
    Cascade,
    /// Weighs similarity, recency, success, access and domain, as for episodes.
    Episodic,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    name: ProfileName,
    weights: Weights,
    factors: Factors,
    half_life_days: f64,
}

impl Profile {
    /// Makes a profile. `weights` are those of the composite profile; the others have their own.
    pub fn new(name: ProfileName, weights: Weights, half_life_days: f64) -> Self {
        let (weights, factors) = match name {
            ProfileName::Composite => (weights, Factors::ConfidenceAndScope),
            ProfileName::Paper => (Weights::SIMILARITY, Factors::None),
            ProfileName::Cascade => (Weights::SIMILARITY, Factors::Cascade),
            ProfileName::Episodic => (Weights::EPISODIC, Factors::ConfidenceAndScope),
        };
        Self { name, weights, factors, half_life_days }
    }

    pub fn name(&self) -> ProfileName {
        self.name
    }

    /// Tells whether an answer holds the items of the best trace alone.
    pub fn tells_one_trace(&self) -> bool {
        self.name == ProfileName::Paper
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::new(ProfileName::Composite, Weights::COMPOSITE, 30.0)
    }
}

/// The facts about a query that scoring knows beside its text.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryContext {
    pub now: Timestamp,
    /// The error that is asked for. It has a domain only where one was given with the error.
    pub signature: Option<Signature>,
    /// The domain, as the caller names it.
    pub domain: Option<String>,
    /// The domain of most candidates, which counts where the caller names none.
    pub majority_domain: Option<String>,
    /// True where the query speaks of something that went wrong.
    pub mentions_error: bool,
    /// True where the vectors are of the embedding model that relevance is calibrated for.
    pub compares_meaning: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Component {
    pub name: String,
    /// The value lies in 0..1.
    pub value: f64,
    pub weight: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Factor {
    pub name: String,
    /// The value lies in 0..1.
    pub value: f64,
}

/// A list that the memory is in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListPart {
    /// The name of the list: `vector` or `text`.
    pub name: String,
    /// The place in the list, from 1.
    pub rank: usize,
    /// The place of its score between the ends of the list, in 0..1.
    pub relative: f64,
    /// The weight of the list for this query, in 0..1.
    pub share: f64,
}

/// The way in which a score came about: `composite_score = Σ value·weight / Σ weight × Π factors`, where the similarity
/// is `Σ share·relative` of the lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    pub profile: ProfileName,
    pub components: Vec<Component>,
    pub factors: Vec<Factor>,
    /// The lists that it is in. Empty where it is a candidate only for the error it warns of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<ListPart>,
    /// The cosine of the best passage with the query. Absent when it was found by text alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f64>,
    /// The BM25 score of the best passage. Absent when it was found by vector alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_score: Option<f64>,
    /// The evidence for its relevance. Absent where no list has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevance: Option<Features>,
    /// True where it warns of the very error that was asked for, and few warnings do. That alone makes it relevant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub very_error: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    pub similarity: f64,
    pub recency: f64,
    pub error_context: f64,
    pub base: f64,
    pub composite: f64,
    pub confidence: f64,
    pub why: Why,
}

pub fn score(profile: &Profile, asked: &QueryContext, facts: &Facts, evidence: &Evidence, fused: &Fused) -> Score {
    let confidence = confidence(facts, evidence, asked.now);
    let age_days = days_between(evidence.idle_since(facts.created_at), asked.now);
    let recency = 0.5_f64.powf(age_days / profile.half_life_days);
    let error_context = error_context(asked, facts);
    let w = &profile.weights;
    let components = [
        ("similarity", fused.similarity, w.similarity),
        ("recency", recency, w.recency),
        ("error_context", error_context, w.error_context),
        ("success", f64::from(u8::from(facts.outcome == MemoryOutcome::Success)), w.success),
        ("access", usage_part(evidence.usage_count()), w.access),
        ("domain", f64::from(u8::from(same_domain(asked, facts))), w.domain),
    ];
    let total: f64 = components.iter().map(|(_, _, weight)| weight).sum();
    let base = components.iter().map(|(_, value, weight)| value * weight).sum::<f64>() / total;
    let base = base.clamp(0.0, 1.0);
    let scope_weight = ("scope_weight", scope_weight(facts.scope));
    let factors = match profile.factors {
        Factors::None => Vec::new(),
        Factors::ConfidenceAndScope => vec![("confidence_factor", 0.5 + 0.5 * confidence), scope_weight],
        Factors::Cascade => {
            let boost = (1.0 + 0.1 * (1.0 - age_days / 365.0).max(0.0)) / 1.1;
            vec![("confidence", confidence), ("recency_boost", boost), scope_weight]
        }
    };
    let composite = factors.iter().fold(base, |product, (_, value)| product * value);
    let why = Why {
        profile: profile.name,
        components: components
            .into_iter()
            .filter(|(_, _, weight)| *weight > 0.0)
            .map(|(name, value, weight)| Component { name: name.into(), value, weight })
            .collect(),
        factors: factors.into_iter().map(|(name, value)| Factor { name: name.into(), value }).collect(),
        lists: lists(fused),
        cosine: fused.cosine(),
        text_score: fused.text_score(),
        relevance: None,
        very_error: false,
    };
    Score { similarity: fused.similarity, recency, error_context, base, composite, confidence, why }
}

fn lists(fused: &Fused) -> Vec<ListPart> {
    let named = [("vector", fused.vector), ("text", fused.text)];
    let part = |(name, listed): (&str, Option<ListEntry>)| {
        let ListEntry { rank, relative, share, .. } = listed?;
        Some(ListPart { name: name.into(), rank, relative, share })
    };
    named.into_iter().filter_map(part).collect()
}

fn scope_weight(scope: Scope) -> f64 {
    match scope {
        Scope::Project => 1.0,
        Scope::Team => 0.9,
        Scope::Org => 0.8,
    }
}

/// Tells whether a memory is of a domain: by its category or, for a warning, by the domain of its error.
fn is_of(domain: &str, facts: &Facts) -> bool {
    let own = [facts.domain.as_deref(), facts.signature.as_ref().and_then(Signature::domain)];
    own.into_iter().flatten().any(|own| label_key(own) == label_key(domain))
}

fn same_domain(asked: &QueryContext, facts: &Facts) -> bool {
    asked.domain.as_ref().or(asked.majority_domain.as_ref()).is_some_and(|domain| is_of(domain, facts))
}

/// Returns how well a warning matches the error context of a query. It is 1 for the same signature. It is 0.5 for the
/// same domain, or for the same error in another domain than the one that the caller names beside it. It is 0.25 when
/// the query mentions an error, and 0 for strategies.
fn error_context(asked: &QueryContext, facts: &Facts) -> f64 {
    let Some(own) = &facts.signature else { return 0.0 };
    let same_error = asked.signature.as_ref().filter(|wanted| wanted.matches(own));
    let elsewhere = |wanted: &Signature| {
        let named = asked.domain.as_ref().filter(|_| wanted.domain().is_none() && own.domain().is_some());
        named.is_some_and(|domain| !is_of(domain, facts))
    };
    match same_error {
        Some(wanted) if !elsewhere(wanted) => 1.0,
        Some(_) => 0.5,
        None if same_domain(asked, facts) => 0.5,
        None if asked.mentions_error => 0.25,
        None => 0.0,
    }
}

#[cfg(test)]
mod tests;
