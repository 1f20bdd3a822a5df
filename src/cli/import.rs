//! The command `import`: it takes over what another program remembered. It shows what it found, asks, and writes.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::retrieval::conditions::moment;
use reasoning_bank_domain::safety::secrets::scrub;
use reasoning_bank_importers::{ImportSource, SkipReason, SourcePlaces};

use super::answers::{AddedThings, SourceImportReport, WorkspaceShare};
use super::args::SourceArgs;
use super::bank::BankCaller;
use super::confirm::confirm;
use super::failure::{CommandExit, CommandFailure};
use super::memory::{agree, aside, check_export, failed, import_target, write};
use super::output::Output;
use super::render;
use super::session::{request_deadline, rewrite_deadline, with_bulk_bank};
use crate::import::{CollectError, CollectedSource, KindPreviews, SourceContext, SplitThings, collect};
use crate::settings::{Loaded, SettingSources};

/// The number of projects without a known directory that are named.
const PROJECTS_NAMED: usize = 10;

pub(super) fn command(
    args: &SourceArgs,
    loaded: &Loaded,
    sources: &SettingSources,
    output: Output,
) -> Result<CommandExit, CommandFailure> {
    let place = place_of(args, sources)?;
    let report = with_bulk_bank(loaded, async |system| match args.source {
        ImportSource::Jsonl => export(args, place, loaded, output, &system).await,
        _ => source(args, place, loaded, sources, output, &system).await,
    })?;
    output.answer(&report, render::source_imported)
}

/// Finds where the memories are.
fn place_of(args: &SourceArgs, sources: &SettingSources) -> Result<PathBuf, CommandFailure> {
    let source = args.source;
    let hint = || format!("name {}: reasoning-bank import {source} PATH", source.path_hint());
    if let Some(path) = &args.path {
        let path = sources.directory.join(path);
        return match path.try_exists() {
            Ok(true) if source == ImportSource::Jsonl && path.is_dir() => {
                Err(CommandFailure::usage(format!("{}: it is a folder, and not a file", path.display())).hint(hint()))
            }
            Ok(true) => Ok(path),
            _ => Err(CommandFailure::usage(format!("{}: there is nothing", path.display())).hint(hint())),
        };
    }
    let variable = |name: &str| Some(sources.variable(name)?.to_str()?.to_owned());
    let places = source.default_places(&SourcePlaces { home: sources.home.clone(), variable: &variable });
    if let Some(found) = places.iter().find(|place| place.exists()) {
        return Ok(found.clone());
    }
    let looked = match places.is_empty() {
        true => "it has no usual place".to_owned(),
        false => {
            let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
            format!("there is nothing at {}", places.join(", nor at "))
        }
    };
    Err(CommandFailure::usage(format!("no memories of {source} are found: {looked}")).hint(hint()))
}

async fn source(
    args: &SourceArgs,
    place: PathBuf,
    loaded: &Loaded,
    sources: &SettingSources,
    output: Output,
    system: &SystemHandle,
) -> Result<SourceImportReport, CommandFailure> {
    let context = context(args, loaded, sources, system).await?;
    let aside = aside(loaded)?;
    let (progress, path, of) = (output.progress("things read"), place.clone(), args.source);
    let reading =
        tokio::task::spawn_blocking(move || collect(of, &path, aside, &context, |things| progress.done(things)));
    let collected = reading.await.map_err(Error::internal)?.map_err(|error| unreadable(error, args.source, &place))?;
    let CollectedSource { mut checked, facts, workspaces, skipped, unreadable, unplaced, removed, split } = collected;
    let mut kinds = KindPreviews::default();
    let name = place.display().to_string();
    kinds.add_checked(&mut checked, system).await.map_err(|failure| failed(failure, &name))?;
    for of in &facts {
        kinds.add_facts(args.source.as_str(), of, system).await?;
    }
    let has_no_projects = args.source == ImportSource::Mem0 && is_history(&place);
    let mut report = report(args, place, kinds, &workspaces);
    report.redactions = u64::from(removed.redactions);
    report.skipped = skipped.into_iter().map(|(reason, count)| (reason.as_str(), count)).collect();
    report.unreadable = unreadable.iter().map(|part| scrub(&part.to_string()).text.into_owned()).collect();
    if report.kinds.without_room > 0 {
        *report.skipped.entry(SkipReason::NoRoom.as_str()).or_default() += report.kinds.without_room;
    }
    report.notes.extend(unplaced_note(&unplaced, args.all_projects));
    report.notes.extend(split_note(split));
    if has_no_projects && report.kinds.new_things() > 0 {
        report.notes.push(
            "the history of mem0 names neither users nor projects: everything in it goes to the workspace in use"
                .to_owned(),
        );
    }
    if checked.leaves_vectors() && report.kinds.new_things() > 0 {
        report.notes.push(
            "the memories are found by their words at once, and by meaning when upkeep has made their vectors, which a \
             server does while it runs and `maintain --apply` at once"
                .to_owned(),
        );
    }
    if !may_write(&mut report, args, output)? {
        return Ok(report);
    }
    let imported = write(checked, &name, output.progress("things imported"), system).await?;
    let mut added = AddedThings { memories: imported.imported.memories, facts: 0, others: 0 };
    for of in facts {
        added.facts +=
            system.banks.add_facts(&of.location, args.source.as_str(), of.facts, rewrite_deadline()).await?.added
                as u64;
    }
    report.added = Some(added);
    Ok(report)
}

/// Imports an export of this program, as `memory import` does.
async fn export(
    args: &SourceArgs,
    place: PathBuf,
    loaded: &Loaded,
    output: Output,
    system: &SystemHandle,
) -> Result<SourceImportReport, CommandFailure> {
    if args.all_projects {
        return Err(CommandFailure::usage("--all-projects: an export names its workspaces").hint("leave it out"));
    }
    if args.since.is_some() {
        return Err(CommandFailure::usage("--since: an export is imported whole").hint("leave it out"));
    }
    let target = Arc::new(import_target(false, loaded, system).await?);
    let name = place.display().to_string();
    let file = File::open(&place).map_err(|error| CommandFailure::unreadable(&name, error))?;
    let mut checked = check_export(file, &name, &target, loaded, output).await?;
    let mut kinds = KindPreviews::default();
    kinds.add_checked(&mut checked, system).await.map_err(|failure| failed(failure, &name))?;
    let mut workspaces = target.known.clone();
    workspaces.insert(target.here.id.clone(), target.here.clone());
    let mut report = report(args, place, kinds, &workspaces);
    report.notes = checked.notes(&*target);
    if report.kinds.new_things() + report.kinds.others > 0 && !args.dry_run {
        agree(checked.foreign(), &target, args.sure)?;
    }
    if !may_write(&mut report, args, output)? {
        return Ok(report);
    }
    let others = report.kinds.others;
    let imported = write(checked, &name, output.progress("things imported"), system).await?;
    report.added = Some(AddedThings { memories: imported.imported.memories, facts: 0, others });
    Ok(report)
}

fn report(
    args: &SourceArgs,
    place: PathBuf,
    kinds: KindPreviews,
    known: &std::collections::HashMap<WorkspaceId, Workspace>,
) -> SourceImportReport {
    let share = |(id, new): (&WorkspaceId, &u64)| {
        let workspace = known.get(id);
        let text = |of: fn(&Workspace) -> &str| workspace.map(of).unwrap_or_default().to_owned();
        let (name, place) = (text(|workspace| &workspace.name), text(Workspace::place));
        WorkspaceShare { workspace_id: id.clone(), name, place, new: *new }
    };
    let workspaces = kinds.workspaces.iter().map(share).collect();
    SourceImportReport {
        source: args.source,
        place,
        kinds,
        workspaces,
        skipped: BTreeMap::new(),
        unreadable: Vec::new(),
        redactions: 0,
        notes: Vec::new(),
        is_dry_run: args.dry_run,
        added: None,
    }
}

/// Shows what would be written and asks. Says whether it is to be written.
fn may_write(report: &mut SourceImportReport, args: &SourceArgs, output: Output) -> Result<bool, CommandFailure> {
    if args.dry_run {
        return Ok(false);
    }
    if report.kinds.new_things() + report.kinds.others == 0 {
        report.added = Some(AddedThings { memories: 0, facts: 0, others: 0 });
        return Ok(false);
    }
    if !output.json {
        output.remark(&render::source_preview(report));
    }
    confirm("Import this", args.sure).map(|()| true)
}

async fn context(
    args: &SourceArgs,
    loaded: &Loaded,
    sources: &SettingSources,
    system: &SystemHandle,
) -> Result<SourceContext, CommandFailure> {
    let now = Timestamp::now();
    let since = args.since.as_deref().map(|since| moment(since, now)).transpose();
    let since = since.map_err(|problem| {
        CommandFailure::usage(format!("--since: {problem}"))
            .hint("write it in one of these forms, such as `--since 7d`")
    })?;
    let here = system.workspaces.resolve(&loaded.workspace, request_deadline()).await?.workspace;
    let known = system.workspaces.list(request_deadline()).await?;
    Ok(SourceContext {
        system: system.clone(),
        here,
        checkout: BankCaller { loaded, directory: &sources.directory }.work_tree(),
        known,
        identity: loaded.settings.workspace.identity,
        home: sources.home.clone(),
        now,
        since,
        takes_other_projects: args.all_projects,
    })
}

fn unreadable(error: CollectError, source: ImportSource, place: &Path) -> CommandFailure {
    match error {
        CollectError::Source(error) => CommandFailure::usage(format!("{}: {error}", place.display()))
            .hint(format!("name {}; where it is damaged, restore it with {source} first", source.path_hint())),
        CollectError::Aside(error) => CommandFailure::put_aside(error),
        CollectError::Bank(error) => error.into(),
    }
}

/// Says whether a path of mem0 is the database with its history, and no file that it exported.
fn is_history(place: &Path) -> bool {
    !place.extension().is_some_and(|ending| ending == "json" || ending == "md")
}

fn split_note(split: SplitThings) -> Option<String> {
    let SplitThings { things, parts } = split;
    let told = match things {
        0 => return None,
        1 => "1 thing is longer than a memory or a fact may be, and is".to_owned(),
        _ => format!("{things} things are longer than a memory or a fact may be, and are"),
    };
    Some(format!("{told} taken in {parts} parts"))
}

fn unplaced_note(unplaced: &BTreeMap<String, u64>, are_taken: bool) -> Option<String> {
    if unplaced.is_empty() {
        return None;
    }
    let things: u64 = unplaced.values().sum();
    let mut names: Vec<&str> = unplaced.keys().map(String::as_str).take(PROJECTS_NAMED).collect();
    let more = unplaced.len().saturating_sub(PROJECTS_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.sort_unstable();
    let what_happens = if are_taken {
        "go to the workspace in use, because no directory here is known for them"
    } else {
        "are left out, because no directory here is known for them; import in the directory of each project, or take them \
         into the workspace in use with --all-projects"
    };
    Some(format!("{things} things of the projects {}{more} {what_happens}", names.join(", ")))
}
