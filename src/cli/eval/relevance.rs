//! The command `eval relevance`, from its arguments to a measurement in a temporary directory.

use std::sync::Arc;

use reasoning_bank_actors::ports::Embedder;

use super::speed;
use crate::cli::args::RelevanceArgs;
use crate::cli::failure::{CommandExit, CommandFailure};
use crate::cli::output::Output;
use crate::cli::render;
use crate::cli::session::{self, with_embedder};
use crate::embed::Workload;
use crate::eval::relevance::{self, RelevancePlan, Set};
use crate::settings::Loaded;

pub(super) fn command(args: &RelevanceArgs, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let sets = args.sets.iter().map(|directory| Set::read(directory)).collect::<Result<Vec<_>, _>>()?;
    let plan = RelevancePlan {
        sizes: args.sizes.iter().map(|size| *size as usize).collect(),
        questions: args.questions as usize,
        seed: args.seed,
        fit: args.fit,
        min_relevance: loaded.settings.retrieval.min_relevance,
    };
    let place = tempfile::tempdir().map_err(CommandFailure::temporary)?;
    let mut loaded = loaded.clone();
    loaded.settings.data_dir = place.path().to_owned();
    let embedder = Arc::new(session::embedder(&loaded, Workload::Bulk)?);
    let report = with_embedder(&loaded, Arc::clone(&embedder) as Arc<dyn Embedder>, async |bank| {
        speed::unless_asked_to_end(async {
            let progress = output.progress("questions");
            Ok(relevance::measure(&sets, &plan, &bank.handle(), &*embedder, |done| progress.done(done)).await?)
        })
        .await
    });
    output.answer(&report?, render::eval_relevance)
}
