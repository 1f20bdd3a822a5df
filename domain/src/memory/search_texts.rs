//! The texts that a memory is found by: what it says in each of its wordings, the failure that it warns of, and the
//! tasks that it was learned from. A memory that is learned again grows by the new wording and the new task.

use std::collections::HashSet;

use super::{Memory, spaced};
use crate::text::terms;

/// The most other wordings of one memory.
pub const WORDINGS_MAX: usize = 8;
/// The most further tasks of one memory.
pub const FURTHER_TASKS_MAX: usize = 8;
/// The number of characters that are searched at the start of a long task. The next constant is the number at its end.
const TASK_HEAD_CHARS: usize = 3_000;
const TASK_TAIL_CHARS: usize = 1_000;
/// The longest gist of a task, in characters.
pub const GIST_MAX_CHARS: usize = TASK_HEAD_CHARS + 1 + TASK_TAIL_CHARS;
/// Two tasks that share this much of their terms (Jaccard) count as one, which is found by the words of either.
const SAME_TASK: f64 = 0.8;

/// Returns the gist of a task, which stands for it among the texts that are searched and in a query. It is the whole of
/// a short task, and the start and the end of a long one.
pub fn gist(task: &str) -> String {
    let chars = task.chars().count();
    if chars <= TASK_HEAD_CHARS + TASK_TAIL_CHARS {
        return task.to_owned();
    }
    let head: String = task.chars().take(TASK_HEAD_CHARS).collect();
    let tail: String = task.chars().skip(chars - TASK_TAIL_CHARS).collect();
    format!("{head}\n{tail}")
}

/// The texts that a memory is found by; none of them is blank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchTexts {
    /// The gist of the task it was learned from, then those of the tasks that confirmed it.
    pub tasks: Vec<String>,
    /// The memory's own text, the failure that it warns of, then its other wordings.
    pub contents: Vec<String>,
}

impl Memory {
    /// Returns the texts that the memory is found by. A pattern that is not validated has none.
    pub fn search_texts(&self) -> SearchTexts {
        if self.is_unproven() {
            return SearchTexts::default();
        }
        let full = |texts: Vec<String>| texts.into_iter().filter(|text| !text.trim().is_empty()).collect();
        SearchTexts {
            tasks: full([vec![gist(&self.task)], self.further_tasks.clone()].concat()),
            contents: full([vec![self.content_text(), self.failure_text()], self.wordings.clone()].concat()),
        }
    }

    /// Returns the failure that the memory warns of, as far as its own text does not tell it: the name of the error,
    /// what was done, and what was printed. It is empty where the memory is no warning. A name never stands alone,
    /// because one word would be the best match of any short query that has it: what was done stands beside it, told or
    /// not.
    fn failure_text(&self) -> String {
        let Some(error) = &self.error_context else { return String::new() };
        let own = spaced(&self.content_text());
        let told = [Some(&error.error_type), Some(&error.failure_pattern), error.error_message.as_ref()];
        let mut untold: Vec<&str> =
            told.into_iter().flatten().map(String::as_str).filter(|text| !own.contains(&spaced(text))).collect();
        if untold == [error.error_type.as_str()] {
            untold.push(&error.failure_pattern);
        }
        gist(&untold.join("\n"))
    }

    /// Returns this memory after it was confirmed by `lesson`, which says the same. It takes over the wordings and the
    /// tasks that are new to it. None where there is no room for another wording.
    pub fn confirmed_by(&self, lesson: &Self) -> Option<Self> {
        let mut confirmed = self.clone();
        for wording in std::iter::once(lesson.content_text()).chain(lesson.wordings.clone()) {
            let said =
                std::iter::once(&confirmed.content_text()).chain(&confirmed.wordings).any(|text| same(text, &wording));
            if !said && confirmed.wordings.len() == WORDINGS_MAX {
                return None;
            }
            confirmed.wordings.extend((!said).then_some(wording));
        }
        for task in lesson.search_texts().tasks {
            confirmed.add_task(task);
        }
        Some(confirmed)
    }

    /// Returns this memory without the wordings and the tasks that it took in of `other`. A memory that does not say
    /// what `other` says took in none.
    pub(super) fn without_texts_of(mut self, other: &Self) -> Self {
        let theirs = other.search_texts();
        let said = other.content_text();
        if !self.search_texts().contents.iter().any(|text| same(text, &said)) {
            return self;
        }
        self.wordings.retain(|text| !theirs.contents.iter().any(|one| same(one, text)));
        self.further_tasks.retain(|task| !theirs.tasks.contains(task));
        self
    }

    /// Adds a task, which is given as its gist. A blank task, and one that is much like a known task, adds nothing.
    /// If there are too many, the one that is most like another goes.
    pub fn add_task(&mut self, task: String) {
        if task.trim().is_empty() {
            return;
        }
        if self.task.trim().is_empty() && self.further_tasks.is_empty() {
            self.further_tasks.push(task);
            return;
        }
        let own = terms_of(&gist(&self.task));
        let new = terms_of(&task);
        let kept: Vec<HashSet<String>> = self.further_tasks.iter().map(|task| terms_of(task)).collect();
        if std::iter::once(&own).chain(&kept).any(|other| overlap(other, &new) >= SAME_TASK) {
            return;
        }
        self.further_tasks.push(task);
        if self.further_tasks.len() <= FURTHER_TASKS_MAX {
            return;
        }
        let all: Vec<HashSet<String>> = kept.into_iter().chain([new]).collect();
        let nearest = |n: usize| {
            let others = all.iter().enumerate().filter(|(other, _)| *other != n).map(|(_, other)| other);
            others.chain([&own]).map(|other| overlap(&all[n], other)).fold(0.0, f64::max)
        };
        let most_like_another = (0..all.len()).max_by(|a, b| nearest(*a).total_cmp(&nearest(*b)));
        most_like_another.map(|n| self.further_tasks.remove(n));
    }
}

fn same(a: &str, b: &str) -> bool {
    spaced(a) == spaced(b)
}

fn terms_of(task: &str) -> HashSet<String> {
    terms::query(task).into_iter().map(|of| of.term).collect()
}

/// Returns the share of terms that two tasks have in common, in 0..=1.
fn overlap(a: &HashSet<String>, b: &HashSet<String>) -> f64 {
    let union = a.union(b).count();
    if union == 0 { 0.0 } else { a.intersection(b).count() as f64 / union as f64 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::samples::{strategy, warning};

    fn of_task(task: &str) -> Memory {
        Memory { task: task.into(), ..strategy(1) }
    }

    #[test]
    fn a_long_task_is_searched_by_its_start_and_its_end() {
        assert_eq!(gist("short"), "short");
        let long = format!("{}{}{}", "a".repeat(3_000), "b".repeat(9_000), "c".repeat(1_000));
        assert_eq!(gist(&long), format!("{}\n{}", "a".repeat(3_000), "c".repeat(1_000)));
        assert_eq!(gist(&long).chars().count(), GIST_MAX_CHARS);
    }

    #[test]
    fn a_warning_is_found_by_its_failure_as_far_as_its_own_text_does_not_tell_it() {
        let mut memory = warning(1);
        memory.content = "Runs end with an IndexError.".into();
        let error = memory.error_context.as_mut().unwrap();
        error.error_type = "IndexError".into();
        error.failure_pattern = "The last row is read after the loop.".into();
        error.error_message = Some("list index out of range".into());
        let failure = "The last row is read after the loop.\nlist index out of range";
        assert_eq!(memory.search_texts().contents, [memory.content_text(), failure.to_owned()]);
        memory.content = failure.to_owned();
        let named = "IndexError\nThe last row is read after the loop.";
        assert_eq!(memory.search_texts().contents, [memory.content_text(), named.to_owned()]);
        memory.content = format!("IndexError: {failure}");
        assert_eq!(memory.search_texts().contents, [memory.content_text()]);
    }

    #[test]
    fn a_confirmation_adds_its_wording_and_its_task_once() {
        let memory = of_task("sort the list of users by name");
        let again =
            Memory { description: "Use it when a range is searched!".into(), ..of_task("page through a cursor") };
        let confirmed = memory.confirmed_by(&again).unwrap();
        assert_eq!(confirmed.wordings, [again.content_text()]);
        assert_eq!(confirmed.further_tasks, ["page through a cursor"]);
        assert_eq!(confirmed.confirmed_by(&again).unwrap(), confirmed);
        assert_eq!(confirmed.confirmed_by(&memory).unwrap(), confirmed);
        assert_eq!(
            confirmed.search_texts(),
            SearchTexts {
                tasks: vec![memory.task.clone(), again.task.clone()],
                contents: vec![memory.content_text(), again.content_text()]
            }
        );
        assert_eq!(strategy(1).search_texts().tasks, [""; 0]);
    }

    #[test]
    fn there_is_no_room_for_a_ninth_wording() {
        let wording = |n: usize| Memory { content: format!("variant {n}"), ..strategy(1) };
        let full = (1..=WORDINGS_MAX).fold(wording(0), |memory, n| memory.confirmed_by(&wording(n)).unwrap());
        assert_eq!(full.wordings.len(), WORDINGS_MAX);
        assert_eq!(full.confirmed_by(&wording(9)), None);
        assert_eq!(full.confirmed_by(&wording(3)).as_ref(), Some(&full));
    }

    #[test]
    fn of_too_many_tasks_the_one_goes_that_is_most_like_another() {
        let mut memory = of_task("alpha beta");
        for n in 0..FURTHER_TASKS_MAX {
            memory.add_task(format!("task{n} word{n} thing{n}"));
        }
        memory.add_task("task3 word3 other".into());
        let kept: Vec<&str> = memory.further_tasks.iter().map(|task| &task[..5]).collect();
        assert_eq!(kept.len(), FURTHER_TASKS_MAX);
        assert_eq!(kept.iter().filter(|task| **task == "task3").count(), 1, "{kept:?}");
    }

    proptest! {
        #[test]
        fn tasks_and_wordings_are_bounded_and_no_wording_is_lost(
            lessons in prop::collection::vec(("[a-d]{1,2}( [a-d]{1,2}){0,3}", "[a-h]( [a-h]){0,4}"), 0..30),
        ) {
            let mut memory = of_task("a b c");
            for (content, task) in lessons {
                let lesson = Memory { content, ..of_task(&task) };
                match memory.confirmed_by(&lesson) {
                    Some(confirmed) => {
                        let contents = confirmed.search_texts().contents;
                        prop_assert!(contents.iter().any(|text| same(text, &lesson.content_text())));
                        prop_assert!(memory.search_texts().contents.iter().all(|text| contents.contains(text)));
                        memory = confirmed;
                    }
                    None => prop_assert_eq!(memory.wordings.len(), WORDINGS_MAX),
                }
                prop_assert!(memory.further_tasks.len() <= FURTHER_TASKS_MAX);
            }
        }
    }
}
