//! Tests of what the reads of episodes and new episodes cost: however many there are, they are counted and held against
//! patterns together.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reasoning_bank_actors::episodes::RecordEpisode;
use reasoning_bank_actors::memories::NewPattern;
use reasoning_bank_actors::ports::StoreReads;
use reasoning_bank_domain::episode::{EpisodeStatus, NewEpisode};
use reasoning_bank_domain::memory::Trust;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::pattern::PatternStage;
use reasoning_bank_domain::pattern::input::PatternInput;
use serde_json::json;

use crate::support::*;

/// The names of the operations of the store, as they come.
#[derive(Clone, Default)]
struct Operations(Arc<Mutex<Vec<&'static str>>>);

impl Operations {
    fn of(world: &World) -> Self {
        let seen = Self::default();
        let own = seen.clone();
        world.store.before_each(move |operation| {
            own.0.lock().unwrap().push(operation);
            Ok(())
        });
        seen
    }

    fn count(&self, operation: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|seen| **seen == operation).count()
    }
}

impl World {
    /// Records a task that the tool `rg` did.
    async fn searched(&self, number: u32) -> TraceId {
        let mut episode = NewEpisode::new(format!("Find the caller number {number}"), EpisodeStatus::Success);
        episode.metadata.tools_used = vec!["rg".into()];
        let session = Some(format!("session {number}"));
        let request = RecordEpisode { episode, workspace: project(), session };
        self.handle.episodes.record(request, soon()).await.unwrap().episode.episode_id
    }

    async fn pattern_with_rg(&self, number: u32) -> MemoryId {
        let input: PatternInput = serde_json::from_value(json!({
            "title": format!("Search first, way {number}"), "description": "Debugging in a large repository",
            "explanation": format!("Look before file {number} is opened."), "category": "tool_selection",
            "content": {"type": "heuristic", "condition": format!("Symbol {number} is unknown"),
                        "action": {"text": "Use rg", "tools": ["rg"]}},
        }))
        .unwrap();
        let new = NewPattern { input, workspace: project(), trust: Trust::User, session: None };
        self.handle.memories.add_pattern(new, soon()).await.unwrap().pattern_id
    }
}

#[tokio::test]
async fn the_reads_of_many_episodes_are_stored_with_one_commit() {
    let world = world(good_model()).await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(world.searched(number).await);
    }
    let operations = Operations::of(&world);
    for id in ids.iter().chain(&ids[..2]) {
        world.handle.episodes.get(*id, &project(), soon()).await.unwrap();
    }
    world.system.stop(Duration::from_secs(5)).await;
    assert_eq!(operations.count("commit"), 1);
    let states = world.store.episode_states(ids.clone(), soon()).await.unwrap();
    let count = |id: &TraceId| states.iter().find(|state| state.episode_id == *id).unwrap().access_count;
    assert_eq!(ids.iter().map(count).collect::<Vec<_>>(), [2, 2, 1, 1, 1]);
}

#[tokio::test]
async fn patterns_that_are_tested_by_the_same_episode_are_held_against_others_that_are_read_once() {
    let world = world(good_model()).await;
    let mut patterns = Vec::new();
    for number in 0..4 {
        patterns.push(world.pattern_with_rg(number).await);
    }
    for number in 0..4 {
        world.searched(number).await;
    }
    let operations = Operations::of(&world);
    world.searched(4).await;
    assert_eq!(operations.count("signals_about"), 1, "who is tested is seen by what the test reads");
    assert_eq!((operations.count("episodes_of_ids"), operations.count("episode")), (1, 0));
    assert_eq!(operations.count("commit"), 3, "the episode, that it followed them, and what follows for them");
    // One read looks for the same episode, and one is of those to compare with.
    assert_eq!(operations.count("episodes"), 2);
    for pattern in patterns {
        let shown = world.handle.memories.pattern(pattern, &project(), soon()).await.unwrap();
        assert_eq!((shown.lifecycle.usage_count, shown.lifecycle.status), (5, PatternStage::Validated));
    }
}
