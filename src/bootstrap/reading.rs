//! A system that looks into a bank for one question and ends. It stores nothing, repairs nothing, and has no models.

use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::model::NoModel;
use reasoning_bank_actors::ports::{
    Chunk, Clock, EmbedError, Embedder, EmbedderState, Fingerprint, MemoryStore, StoreError,
};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::{System, SystemParts, SystemSettings};
use reasoning_bank_store::{
    ArtefactFiles, BackgroundLock, BankDirs, LanceReader, TokenAccountFile, TraceFiles, WorkingFiles,
};

use super::{system_settings, trace_files};
use crate::settings::{Loaded, Provider};

/// An embedder that makes no vectors, so that words alone are searched.
struct WordsOnly(Fingerprint);

impl Embedder for WordsOnly {
    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }

    fn state(&self) -> EmbedderState {
        EmbedderState::Failed(NO_VECTORS.to_owned())
    }

    fn embed_query(&self, _: String, _: Deadline) -> BoxFuture<'_, Result<Vec<f32>, EmbedError>> {
        async { Err(EmbedError::Failed(NO_VECTORS.to_owned())) }.boxed()
    }

    fn embed_documents(&self, _: Vec<String>, _: Deadline) -> BoxFuture<'_, Result<Vec<Vec<Chunk>>, EmbedError>> {
        async { Err(EmbedError::Failed(NO_VECTORS.to_owned())) }.boxed()
    }
}

const NO_VECTORS: &str = "no model is loaded to look into a bank";

/// Opens a bank as it is and starts a system over it.
///
/// # Errors
/// The bank cannot be looked into as it is.
pub(crate) async fn reading_system(loaded: &Loaded) -> Result<System, Error> {
    let settings = &loaded.settings;
    let dir: &PathBuf = &settings.data_dir;
    let (reader, fingerprint) = LanceReader::open(dir).await.map_err(Error::internal)?;
    let store: Arc<dyn MemoryStore> =
        Arc::new(TraceFiles::new(Arc::new(reader), trace_files(settings), ArtefactFiles::of(dir)));
    System::start(SystemParts {
        store: Arc::new(move || {
            let store = Arc::clone(&store);
            async move { Ok::<_, StoreError>(store) }.boxed()
        }),
        embedder: Arc::new(WordsOnly(fingerprint)),
        model: Arc::new(NoModel),
        // With a model, the system would count the tokens of its prompts, which takes longer than all the rest.
        provider: Provider::None.as_str().to_owned(),
        settings: SystemSettings { root_name: loaded.root_name(), ..system_settings(settings) },
        clock: Clock::system(),
        working: Arc::new(WorkingFiles::of(dir)),
        artefacts: Arc::new(ArtefactFiles::of(dir)),
        banks: Arc::new(BankDirs::of(dir)),
        consolidation: Arc::new(BackgroundLock::of_consolidation(dir)),
        account: Arc::new(TokenAccountFile::of(dir)),
        background: None,
        backups: None,
    })
    .await
}
