//! Texts as searches and models take them: `terms` are what is searched, `tokens` are what a model counts, and `json`
//! tells the size of a JSON text before it is parsed.

pub mod hex;
pub mod json;
pub mod terms;
pub mod tokens;

/// Returns the text cut to at most `max` characters, between words where that is possible.
pub fn shortened(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let head: String = text.chars().take(max - 1).collect();
    let end = head.rfind(char::is_whitespace).filter(|end| *end > head.len() / 2).unwrap_or(head.len());
    format!("{}…", head[..end].trim_end_matches([',', ';', ':', ' ', '.']))
}
