//! The rule for when two reports are of the same episode: they say the same, in one session, within a few minutes.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

use super::recording::NewEpisode;
use crate::memory::normalised;
use crate::memory::trace::{Reflection, Trace};
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
/// all of the artefacts, insights and failures.
pub fn not_taken(kept: &Trace, told: &Trace) -> Option<Note> {
    let told = told.episode.as_deref()?;
    let mut artefacts = told.artefacts.clone();
    if let Some(kept) = kept.episode.as_deref() {
        artefacts.retain(|artefact| kept.artefacts.iter().all(|known| known.sha256 != artefact.sha256));
    }
    left_out(kept, artefacts.len(), &told.reflection)
}

/// Says the same of a report that is not stored. Its artefacts are compared by their names.
pub fn not_taken_of(kept: &Trace, told: &NewEpisode) -> Option<Note> {
    let known = kept.episode.iter().flat_map(|parts| &parts.artefacts);
    let known: HashSet<&str> = known.map(|artefact| artefact.name.as_str()).collect();
    let artefacts = told.artefacts.iter().filter(|artefact| !known.contains(artefact.name.as_str())).count();
    left_out(kept, artefacts, &told.reflection)
}

fn left_out(kept: &Trace, artefacts: usize, told: &Reflection) -> Option<Note> {
    let known = kept.episode.as_deref().map(|parts| &parts.reflection);
    let insights: HashSet<String> =
        known.iter().flat_map(|known| &known.insights).map(|insight| normalised(insight)).collect();
    let failures: HashSet<String> = kept.failures().iter().map(|failure| normalised(&failure.error)).collect();
    let count = |number: usize, noun: &str| match number {
        0 => None,
        1 => Some(format!("1 {noun}")),
        _ => Some(format!("{number} {noun}s")),
    };
    let new = [
        count(artefacts, "artefact"),
        count(told.insights.iter().filter(|insight| !insights.contains(&normalised(insight))).count(), "insight"),
        count(
            told.failures_analyzed.iter().filter(|one| !failures.contains(&normalised(&one.error))).count(),
            "failure",
        ),
    ];
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
    use crate::episode::EpisodeStatus;
    use crate::memory::samples::{now, strategy, trace};
    use crate::memory::trace::{ArtefactReference, EpisodeParts, FailureAnalysis, Outcome};

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

    #[test]
    fn a_failure_that_is_new_is_not_taken() {
        let mut told = NewEpisode::new("Fix the pager", EpisodeStatus::Success);
        let error = "KeyError: 'x'".to_owned();
        told.reflection.failures_analyzed = vec![FailureAnalysis { error, ..FailureAnalysis::default() }];
        let note = not_taken_of(&reported(), &told).unwrap().to_string();
        assert!(note.contains("new: 1 failure;"), "{note}");
        let parts = EpisodeParts { reflection: told.reflection.clone(), ..EpisodeParts::default() };
        assert_eq!(not_taken_of(&Trace { episode: Some(Box::new(parts)), ..reported() }, &told), None);
    }
}
