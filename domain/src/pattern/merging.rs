//! Patterns that say the same: how alike two are, and one that stands for both.

use std::collections::{BTreeMap, BTreeSet};

use super::wording::{jaccard, title_key};
use crate::memory::ids::{MemoryId, TraceId, derived};
use crate::memory::label::label_key;
use crate::memory::pattern::{
    Applicability, ApplicationKind, CONDITIONS_MAX, ComplexityRange, IDS_MAX, LABELS_MAX, PatternApplication,
    PatternCategory, PatternCondition, PatternPart, application_id,
};

/// The weight of the contents of two patterns in their likeness. The rest is the weight of when they apply.
const CONTENT_WEIGHT: f64 = 0.6;
/// Patterns are proposed for merging from this likeness on.
pub const MERGE_LIKENESS: f64 = 0.8;

/// Returns how alike two patterns are, in 0..=1: by the words of what they say and by when they apply. Patterns of
/// different categories or types of content are not alike.
pub fn pattern_likeness(a: &PatternPart, b: &PatternPart) -> f64 {
    ComparedPattern::of(a).likeness(&ComparedPattern::of(b), 0.0)
}

/// The parts of a pattern that are compared with those of another one.
struct ComparedPattern {
    kind: (PatternCategory, &'static str),
    words: BTreeSet<String>,
    tools: BTreeSet<String>,
    /// The demands of its applicability, each as a text.
    demands: BTreeSet<String>,
}

impl ComparedPattern {
    fn of(part: &PatternPart) -> Self {
        let texts = part.content.texts().into_iter().map(title_key).collect::<Vec<_>>();
        let words = texts.iter().flat_map(|text| text.split(' ')).filter(|word| !word.is_empty());
        Self {
            kind: kind(part),
            words: words.map(str::to_owned).collect(),
            tools: part.content.tools().map(label_key).collect(),
            demands: demands(&part.applicability),
        }
    }

    /// Returns how alike two patterns are; 0 where that is certainly less than `least`. Their words are compared last,
    /// because there are many of them.
    fn likeness(&self, other: &Self, least: f64) -> f64 {
        if self.kind != other.kind {
            return 0.0;
        }
        let of = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
            if a.is_empty() && b.is_empty() { 1.0 } else { jaccard(a, b) }
        };
        let weighed = |said: f64, when: f64| CONTENT_WEIGHT * said + (1.0 - CONTENT_WEIGHT) * when;
        let when = of(&self.demands, &other.demands);
        if weighed(1.0, when) < least {
            return 0.0;
        }
        // Patterns that name other tools say something else, however alike their sentences are.
        let tools = of(&self.tools, &other.tools);
        if weighed(tools, when) < least {
            return 0.0;
        }
        weighed(jaccard(&self.words, &other.words).min(tools), when)
    }
}

fn kind(part: &PatternPart) -> (PatternCategory, &'static str) {
    (part.category, part.content.type_name())
}

/// Returns the pairs of patterns that may be merged, each with the one first that has more confidence. A pattern is in
/// one pair at most, and the most alike come first.
pub fn similar_pairs<'a>(patterns: &[(MemoryId, &'a PatternPart)]) -> Vec<SimilarPair<'a>> {
    let compared: Vec<ComparedPattern> = patterns.iter().map(|(_, part)| ComparedPattern::of(part)).collect();
    let mut pairs: Vec<SimilarPair<'a>> = Vec::new();
    for (place, one) in patterns.iter().enumerate() {
        for (other_place, other) in patterns.iter().enumerate().skip(place + 1) {
            let likeness = compared[place].likeness(&compared[other_place], MERGE_LIKENESS);
            if likeness >= MERGE_LIKENESS {
                let is_better = one.1.statistics.confidence >= other.1.statistics.confidence;
                let (better, other) = if is_better { (*one, *other) } else { (*other, *one) };
                pairs.push(SimilarPair { better, other, likeness });
            }
        }
    }
    pairs.sort_by(|a, b| b.likeness.total_cmp(&a.likeness));
    let mut paired = BTreeSet::new();
    pairs.retain(|pair| {
        let is_free = !paired.contains(&pair.better.0) && !paired.contains(&pair.other.0);
        if is_free {
            paired.extend([pair.better.0, pair.other.0]);
        }
        is_free
    });
    pairs
}

/// Two patterns that say much the same for much the same tasks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimilarPair<'a> {
    pub better: (MemoryId, &'a PatternPart),
    pub other: (MemoryId, &'a PatternPart),
    /// In 0..=1.
    pub likeness: f64,
}

/// Returns the id of the pattern that stands for two others, which are the same in either order.
pub fn merged_id(a: MemoryId, b: MemoryId) -> MemoryId {
    let (first, second) = (a.min(b).uuid(), a.max(b).uuid());
    derived(&[b"merged pattern", first.as_bytes(), second.as_bytes()]).into()
}

fn demands(applicability: &Applicability) -> BTreeSet<String> {
    let lists = [
        ("type", &applicability.problem_types),
        ("domain", &applicability.domains),
        ("capability", &applicability.required_capabilities),
    ];
    let labels =
        lists.into_iter().flat_map(|(kind, list)| list.iter().map(move |one| format!("{kind} {}", label_key(one))));
    let conditions = |kind: &'static str, list: &[PatternCondition]| -> Vec<String> {
        list.iter().map(|condition| format!("{kind} {}", label_key(&condition.to_string()))).collect()
    };
    let ComplexityRange { min, max } = applicability.complexity;
    let complexity = [min.map(|one| format!("from {}", one.as_str())), max.map(|one| format!("to {}", one.as_str()))];
    labels
        .chain(conditions("if", &applicability.context_conditions))
        .chain(conditions("unless", &applicability.anti_conditions))
        .chain(complexity.into_iter().flatten())
        .collect()
}

/// Returns the candidate that stands for two patterns: it says what the first one says, and applies where one of them
/// does. None where they are of different categories or types of content, or where it would have too many conditions.
pub fn merged(better: &PatternPart, other: &PatternPart) -> Option<PatternPart> {
    if kind(better) != kind(other) {
        return None;
    }
    let (a, b) = (&better.applicability, &other.applicability);
    let mut anti_conditions = a.anti_conditions.clone();
    anti_conditions.extend(b.anti_conditions.iter().filter(|one| !a.anti_conditions.contains(one)).cloned());
    if anti_conditions.len() > CONDITIONS_MAX {
        return None;
    }
    let mut next = PatternPart::new(better.category, better.content.clone());
    next.applicability = Applicability {
        problem_types: either(&a.problem_types, &b.problem_types),
        domains: either(&a.domains, &b.domains),
        complexity: ComplexityRange {
            min: a.complexity.min.zip(b.complexity.min).map(|(a, b)| a.min(b)),
            max: a.complexity.max.zip(b.complexity.max).map(|(a, b)| a.max(b)),
        },
        required_capabilities: common(&a.required_capabilities, &b.required_capabilities),
        context_conditions: common(&a.context_conditions, &b.context_conditions),
        anti_conditions,
    };
    next.guidance = better.guidance.clone();
    let (own, more) = (&better.relationships, &other.relationships);
    next.relationships = own.clone();
    next.relationships.specializes = own.specializes.filter(|one| Some(*one) == more.specializes);
    next.relationships.generalizes = both(&own.generalizes, &more.generalizes);
    next.relationships.contradicts = both(&own.contradicts, &more.contradicts);
    next.relationships.complements = both(&own.complements, &more.complements);
    Some(next)
}

/// Returns the applications of a merged pattern, one for each episode. A reported one is taken before an observed one.
pub fn merged_applications(
    merged: MemoryId,
    version: u32,
    applications: impl IntoIterator<Item = PatternApplication>,
) -> Vec<PatternApplication> {
    let mut by_episode: BTreeMap<TraceId, PatternApplication> = BTreeMap::new();
    for application in applications {
        let episode = application.episode_id;
        let next =
            PatternApplication { id: application_id(merged, episode), pattern_id: merged, version, ..application };
        match by_episode.get(&episode) {
            Some(known) if known.kind == ApplicationKind::Reported || next.kind == ApplicationKind::Observed => {}
            _ => {
                by_episode.insert(episode, next);
            }
        }
    }
    by_episode.into_values().collect()
}

/// Returns the labels of both. An empty list means any, and so does one that would be too long.
fn either(a: &[String], b: &[String]) -> Vec<String> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let mut all = a.to_vec();
    all.extend(b.iter().filter(|label| !a.iter().any(|one| label_key(one) == label_key(label))).cloned());
    if all.len() > LABELS_MAX { Vec::new() } else { all }
}

fn common<T: PartialEq + Clone>(a: &[T], b: &[T]) -> Vec<T> {
    a.iter().filter(|one| b.contains(one)).cloned().collect()
}

fn both(a: &[MemoryId], b: &[MemoryId]) -> Vec<MemoryId> {
    let mut all = a.to_vec();
    all.extend(b.iter().filter(|id| !a.contains(id)));
    all.truncate(IDS_MAX);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Complexity;
    use crate::memory::pattern::PatternStatistics;
    use crate::memory::samples::id;
    use crate::pattern::observation::{observed, reported};
    use crate::pattern::samples::{episode, tool_pattern};

    fn with(types: &[&str], conditions: &[&str], anti: &[&str]) -> PatternPart {
        let is = |values: &[&str]| values.iter().map(|value| PatternCondition::is("language", value)).collect();
        let mut part = tool_pattern(&["rg"]);
        part.applicability.problem_types = types.iter().map(|one| (*one).to_owned()).collect();
        part.applicability.context_conditions = is(conditions);
        part.applicability.anti_conditions = is(anti);
        part
    }

    #[test]
    fn looking_for_no_less_than_a_likeness_finds_the_same_pairs() {
        let other_tools =
            PatternPart { applicability: with(&["testing"], &[], &[]).applicability, ..tool_pattern(&["rg", "fd"]) };
        let parts = [
            with(&["testing"], &[], &[]),
            with(&["testing", "review"], &[], &[]),
            with(&["testing"], &["rust", "go"], &[]),
            with(&["review"], &[], &["go"]),
            with(&[], &[], &[]),
            other_tools,
        ];
        let compared: Vec<ComparedPattern> = parts.iter().map(ComparedPattern::of).collect();
        let mut is_alike = Vec::new();
        for (a, b) in compared.iter().flat_map(|a| compared.iter().map(move |b| (a, b))) {
            let (whole, found) = (a.likeness(b, 0.0), a.likeness(b, MERGE_LIKENESS));
            assert!(if whole >= MERGE_LIKENESS { found == whole } else { found < MERGE_LIKENESS }, "{whole} {found}");
            is_alike.push(whole >= MERGE_LIKENESS);
        }
        assert!(is_alike.contains(&true) && is_alike.contains(&false));
    }

    #[test]
    fn a_merged_pattern_applies_where_one_of_both_does() {
        let (mut a, mut b) =
            (with(&["testing"], &["rust", "go"], &["c"]), with(&["Testing", "review"], &["go"], &["d"]));
        a.applicability.complexity.min = Some(Complexity::High);
        b.applicability.complexity.min = Some(Complexity::Low);
        b.applicability.complexity.max = Some(Complexity::High);
        let applicability = merged(&a, &b).unwrap().applicability;
        assert_eq!(applicability.problem_types, ["testing", "review"]);
        assert_eq!(applicability.context_conditions, [PatternCondition::is("language", "go")]);
        assert_eq!(applicability.anti_conditions.len(), 2);
        assert_eq!(applicability.complexity, ComplexityRange { min: Some(Complexity::Low), max: None });
        assert_eq!(merged(&a, &with(&[], &[], &[])).unwrap().applicability.problem_types, Vec::<String>::new(), "any");
        assert_eq!(merged(&a, &PatternPart { category: PatternCategory::Recovery, ..b }), None);
    }

    #[test]
    fn an_episode_counts_once_for_a_merged_pattern() {
        let part = PatternPart { stage: Default::default(), ..tool_pattern(&["rg"]) };
        let used = |n| crate::pattern::facts::EpisodeFacts { steps: vec!["rg".into()], ..episode(n, Some(true)) };
        let seen = observed(id(1), &part, &used(7)).unwrap();
        let all = [seen, reported(id(2), &part, &used(7)), reported(id(2), &part, &used(8))];
        let one = merged_applications(id(3), 1, all);
        assert_eq!(one.iter().map(|one| one.kind).collect::<Vec<_>>(), [ApplicationKind::Reported; 2]);
        assert!(one.iter().all(|one| one.id == application_id(id(3), one.episode_id)));
    }

    #[test]
    fn alike_are_patterns_that_say_the_same_for_the_same_tasks() {
        let a = with(&["testing"], &[], &[]);
        assert_eq!(pattern_likeness(&a, &a), 1.0);
        assert!((pattern_likeness(&a, &with(&["review"], &[], &[])) - 0.6).abs() < 1e-12);
        let other = PatternPart { content: tool_pattern(&["jq"]).content, ..a.clone() };
        assert!((pattern_likeness(&a, &other) - 0.4).abs() < 1e-12, "other tools");
        let pairs = |parts: &[(MemoryId, &PatternPart)]| similar_pairs(parts).len();
        let better =
            PatternPart { statistics: PatternStatistics { confidence: 0.9, ..Default::default() }, ..a.clone() };
        let three = [(id(1), &a), (id(2), &other), (id(3), &better), (id(4), &a)];
        assert_eq!(pairs(&three), 1, "a pattern is in one pair");
        let pair = similar_pairs(&three[..3])[0];
        assert_eq!((pair.better.0, pair.other.0, pair.likeness), (id(3), id(1), 1.0));
        assert_eq!(merged_id(id(1), id(3)), merged_id(id(3), id(1)));
        assert_eq!(pattern_likeness(&a, &PatternPart { category: PatternCategory::Domain, ..a.clone() }), 0.0);
    }
}
