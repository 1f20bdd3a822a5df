//! A running system over fakes, for the tests of commands.

use std::sync::Arc;

use reasoning_bank_actors::memories::RetrievalSettings;
use reasoning_bank_actors::model::{Simulated, SimulatedBehaviour};
use reasoning_bank_actors::system::{System, SystemParts, SystemSettings};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::parts;

use crate::settings::{self, Loaded, SettingSources};

pub(super) async fn system() -> System {
    system_over(Arc::new(MemStore::new())).await
}

pub(super) async fn system_over(store: Arc<MemStore>) -> System {
    let parts = SystemParts {
        provider: "simulated".into(),
        settings: SystemSettings {
            // Hashed words are less alike than meanings.
            retrieval: RetrievalSettings { relevance_floor: 0.1, ..RetrievalSettings::default() },
            ..SystemSettings::default()
        },
        ..parts(store, Simulated::new(SimulatedBehaviour::default()))
    };
    System::start(parts).await.unwrap()
}

/// The built-in settings, for the workspace of a directory that does not exist.
pub(super) fn loaded() -> Loaded {
    let sources = SettingSources {
        directory: "/nowhere/project".into(),
        data_home: Some("/nowhere/data".into()),
        ..SettingSources::default()
    };
    settings::load(&sources).unwrap()
}
