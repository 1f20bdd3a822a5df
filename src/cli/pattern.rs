//! The commands of `pattern`, from arguments to requests of the system.

use std::path::Path;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::{NewPattern, PatternQuery};
use reasoning_bank_domain::context::ContextMap;
use reasoning_bank_domain::memory::FieldProblem;
use reasoning_bank_domain::memory::Trust;
use reasoning_bank_domain::memory::pattern::FeatureValue;
use reasoning_bank_domain::pattern::finding::PatternQuestion;
use reasoning_bank_domain::pattern::input::{FeaturesInput, PatternInput};

use super::args::{FindPatternArgs, PatternCommand};
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::session::{request_deadline, with_bank};
use super::{input, render};
use crate::settings::Loaded;

pub(super) fn command(command: PatternCommand, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let workspace = &loaded.workspace;
    match command {
        PatternCommand::Add { file } => {
            let input = pattern_of(&file)?;
            let new = NewPattern { input, workspace: workspace.clone(), trust: Trust::User, session: None };
            let added = with_bank(loaded, async |bank| Ok(bank.memories.add_pattern(new, request_deadline()).await?))?;
            output.answer(&added, render::pattern_added)
        }
        PatternCommand::Get { id } => {
            let found =
                with_bank(loaded, async |bank| Ok(bank.memories.pattern(id, workspace, request_deadline()).await?))?;
            output.answer(&found, render::pattern)
        }
        PatternCommand::List { stage } => {
            let stage = stage.map(Into::into);
            let listed = with_bank(loaded, async |bank| {
                Ok(bank.memories.patterns(workspace, stage, request_deadline()).await?)
            })?;
            output.answer(&listed, render::patterns)
        }
        PatternCommand::Find(args) => {
            let query = query(*args, loaded)?;
            let found =
                with_bank(loaded, async |bank| Ok(bank.memories.find_patterns(query, request_deadline()).await?))?;
            output.answer(&found, render::patterns_found)
        }
        PatternCommand::Validate { id, accept } => {
            let changed = with_bank(loaded, async |bank| {
                Ok(match accept {
                    Some(why) => bank.memories.accept_pattern(id, &why, workspace, request_deadline()).await?,
                    None => bank.memories.review_pattern(id, workspace, request_deadline()).await?,
                })
            })?;
            output.answer(&changed, render::pattern_changed)
        }
        PatternCommand::Deprecate { id, reason, superseded_by } => {
            let changed = with_bank(loaded, async |bank| {
                let deadline = request_deadline();
                Ok(bank.memories.deprecate_pattern(id, &reason, superseded_by, workspace, deadline).await?)
            })?;
            output.answer(&changed, render::pattern_changed)
        }
        PatternCommand::Update { id, file } => {
            let input = pattern_of(&file)?;
            let changed = with_bank(loaded, async |bank| {
                Ok(bank.memories.update_pattern(id, &input, Trust::User, workspace, request_deadline()).await?)
            })?;
            output.answer(&changed, render::pattern_changed)
        }
        PatternCommand::History { id } => {
            let versions = with_bank(loaded, async |bank| {
                Ok(bank.memories.pattern_versions(id, workspace, request_deadline()).await?)
            })?;
            output.answer(&versions, render::pattern_versions)
        }
        PatternCommand::Similar { id } => {
            let similar = with_bank(loaded, async |bank| {
                Ok(bank.memories.similar_patterns(id, workspace, request_deadline()).await?)
            })?;
            output.answer(&similar, render::similar_patterns)
        }
        PatternCommand::Merge { id, other } => {
            let run = with_bank(loaded, async |bank| {
                Ok(bank.consolidation.merge_patterns(id, other, workspace, request_deadline()).await?)
            })?;
            output.answer(&run, render::consolidation_run)
        }
        PatternCommand::Prune => {
            let proposals = with_bank(loaded, async |bank| {
                Ok(bank.memories.prunable_patterns(workspace, request_deadline()).await?)
            })?;
            output.answer(&proposals, render::prune_proposals)
        }
        PatternCommand::Apply { id, trace } => {
            let changed = with_bank(loaded, async |bank| {
                Ok(bank.memories.apply_pattern(id, trace, workspace, None, request_deadline()).await?)
            })?;
            output.answer(&changed, render::pattern_changed)
        }
    }
}

/// Reads the file of a pattern.
fn pattern_of(file: &Path) -> Result<PatternInput, CommandFailure> {
    let input: PatternInput = input::document_by_schema(&input::read(file)?, &PatternInput::JUDGED)?;
    if input.workspace.is_some() {
        return Err(CommandFailure::usage("workspace: is not for a file; give it as --workspace"));
    }
    Ok(input)
}

fn query(args: FindPatternArgs, loaded: &Loaded) -> Result<PatternQuery, CommandFailure> {
    let context = context_map(&args.context)?;
    let input = FeaturesInput {
        domain: args.domain,
        task_type: args.task_type,
        complexity: args.complexity.map(Into::into),
        tools: args.tools,
        language: args.language,
        framework: args.framework,
        error: args.error,
        context,
    };
    let features = input.features().map_err(|FieldProblem { field, problem }| Error::invalid(field, problem))?;
    let question = PatternQuestion {
        features,
        stages: args.stage.into_iter().map(Into::into).collect(),
        categories: args.category.into_iter().map(Into::into).collect(),
        limit: args.n.into(),
    };
    Ok(PatternQuery { workspace: loaded.workspace.clone(), question, explain: args.explain })
}

/// Reads what else is known of a task, each as NAME=VALUE.
pub(super) fn context_map(given: &[String]) -> Result<ContextMap, CommandFailure> {
    let mut context = ContextMap::new();
    for given in given {
        let Some((name, value)) = given.split_once('=').filter(|(name, _)| !name.trim().is_empty()) else {
            return Err(CommandFailure::usage(format!("--context {given}: is not NAME=VALUE")));
        };
        context.insert(name.trim().to_owned(), feature(value.trim()));
    }
    Ok(context)
}

/// Reads the value of a feature: a number, true or false, or else a text.
fn feature(value: &str) -> FeatureValue {
    match (value, value.parse::<f64>()) {
        ("true", _) => FeatureValue::Truth(true),
        ("false", _) => FeatureValue::Truth(false),
        (_, Ok(number)) if number.is_finite() => FeatureValue::Number(number),
        (text, _) => FeatureValue::Text(text.to_owned()),
    }
}
