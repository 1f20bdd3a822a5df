//! The rule for when two reports are of the same episode: they say the same, in one session, within a few minutes.

use sha2::{Digest, Sha256};

use crate::memory::trace::Trace;
use crate::note::Note;
use crate::text::hex::hex;

/// The time within which a report that says the same is the same episode, in minutes.
pub const DUPLICATE_MINUTES: i64 = 10;

/// Returns the key of what an episode says: its task, its status, its output and its failures, without differences of
/// white space and case.
pub fn content_key(trace: &Trace) -> String {
    let mut hash = Sha256::new();
    let failures = trace.failures();
    let texts = [trace.task.as_str(), trace.outcome.as_str(), trace.primary_output().unwrap_or_default()];
    for text in texts.into_iter().chain(failures.iter().map(|failure| failure.error.as_str())) {
        for word in text.split_whitespace() {
            hash.update(word.to_lowercase());
            hash.update(b" ");
        }
        hash.update([0]);
    }
    hex(&hash.finalize())
}

/// Says what a report has that the episode has not, which was told before: nothing is added to it. None where it has
/// all of the artefacts and insights.
pub fn not_taken(kept: &Trace, told: &Trace) -> Option<Note> {
    let told = told.episode.as_deref()?;
    let (mut artefacts, mut insights) = (told.artefacts.clone(), told.reflection.insights.clone());
    if let Some(kept) = kept.episode.as_deref() {
        artefacts.retain(|artefact| kept.artefacts.iter().all(|known| known.sha256 != artefact.sha256));
        insights.retain(|insight| !kept.reflection.insights.contains(insight));
    }
    let count = |number: usize, noun: &str| match number {
        0 => None,
        1 => Some(format!("1 {noun}")),
        _ => Some(format!("{number} {noun}s")),
    };
    let new = [count(artefacts.len(), "artefact"), count(insights.len(), "insight")];
    let new: Vec<String> = new.into_iter().flatten().collect();
    (!new.is_empty()).then(|| {
        Note::plain(format!(
            "the episode was told before and stays as it is, without what is new: {}; record_memory keeps a lesson, and \
             the report with another session_id is an episode of its own",
            new.join(" and ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::samples::{now, strategy, trace};
    use crate::memory::trace::{ArtefactReference, EpisodeParts, Outcome, Reflection};

    fn reported() -> Trace {
        Trace::reported(trace(1), strategy(1).workspace_id, "s", None, now())
    }

    #[test]
    fn white_space_and_case_do_not_count_and_words_and_status_do() {
        let told = |task: &str, outcome| Trace { task: task.into(), outcome, ..reported() };
        let key = content_key(&told("Fix the pager", Outcome::Success));
        assert_eq!(content_key(&told(" fix  the\npager ", Outcome::Success)), key);
        assert_ne!(content_key(&told("Fix the pager", Outcome::Failure)), key);
        assert_ne!(content_key(&told("Fix the pagers", Outcome::Success)), key);
    }

    #[test]
    fn a_report_is_told_which_of_its_parts_were_not_taken() {
        let told = |artefacts: &[&str], insights: &[&str]| {
            let artefact = |name: &&str| ArtefactReference {
                name: (*name).into(),
                sha256: format!("hash of {name}"),
                bytes: 1,
                media_type: "text/plain".into(),
            };
            let insights = insights.iter().map(|insight| (*insight).into()).collect();
            let parts = EpisodeParts {
                artefacts: artefacts.iter().map(artefact).collect(),
                reflection: Reflection { insights, ..Reflection::default() },
                ..EpisodeParts::default()
            };
            Trace { episode: Some(Box::new(parts)), ..reported() }
        };
        let kept = told(&["a.log"], &["Profile first"]);
        assert_eq!(not_taken(&kept, &kept), None);
        assert_eq!(not_taken(&kept, &told(&[], &[])), None);
        let note =
            not_taken(&kept, &told(&["a.log", "b.log"], &["Profile first", "Mind the cache", "Read once"])).unwrap();
        assert_eq!(
            note.to_string(),
            "the episode was told before and stays as it is, without what is new: 1 artefact and 2 insights; \
             record_memory keeps a lesson, and the report with another session_id is an episode of its own"
        );
        let bare = Trace { episode: None, ..reported() };
        assert!(not_taken(&bare, &told(&["b.log"], &[])).unwrap().to_string().contains("new: 1 artefact;"));
    }
}
