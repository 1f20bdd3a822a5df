//! The commands of `bank`: memory banks are listed, shown, written to, and moved into checkouts.

use std::path::{Path, PathBuf};

use reasoning_bank_actors::banks::{ActivateBank, ActivatedBank, NoticeReader, RestoredVersion, UpdateBank};
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::BankLocation;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::workspaces::Resolved;
use reasoning_bank_domain::bank::{BankFiles, BankKey, BankKind, BankPath, bank_tokens, template};

use super::answers::{BankDone, BankList, ListedBankAnswer, ShownBank};
use super::args::{ActivateBankArgs, BankArgs, BankCommand, UpdateBankArgs};
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::render::counted;
use super::session::{request_deadline, rewrite_deadline, with_bank, with_solving_bank};
use super::{input, render};
use crate::banks::{BankActivation, BankUpdate, BankVersions};
use crate::export::bank_locations;
use crate::project;
use crate::settings::{Loaded, Provider, SettingSources};

/// The folder that `bank init --in-repo` makes.
const FOLDER: &str = "memory-bank";

/// Opens the memory bank with the model that the settings let work on memory banks.
fn with_bank_model<T>(
    loaded: &Loaded,
    work: impl AsyncFnOnce(SystemHandle) -> Result<T, CommandFailure>,
) -> Result<T, CommandFailure> {
    match loaded.settings.banks.llm && loaded.settings.llm.provider != Provider::None {
        true => with_solving_bank(loaded, work),
        false => with_bank(loaded, work),
    }
}

pub(super) fn command(
    command: BankCommand,
    loaded: &Loaded,
    sources: &SettingSources,
    output: Output,
) -> Result<CommandExit, CommandFailure> {
    let here = BankCaller { loaded, directory: &sources.directory };
    match command {
        BankCommand::List => {
            let listed = with_bank(loaded, async |bank| {
                let own = here.found(&bank).await?.0;
                let mut places = bank_locations(&bank.workspaces.list(request_deadline()).await?);
                places.insert(own.key.clone(), own);
                let banks = bank.banks.list(places, request_deadline()).await?;
                let listed = banks.into_iter().map(|bank| ListedBankAnswer {
                    bank: bank.key.to_string(),
                    files: bank.files,
                    tokens: bank.tokens,
                    last_updated: bank.last_updated,
                    directory: bank.directory,
                    in_checkout: bank.is_adopted,
                    problem: bank.problem,
                });
                Ok(BankList { banks: listed.collect() })
            })?;
            output.answer(&listed, render::banks)
        }
        BankCommand::Show { of, files } => {
            let shown = with_bank(loaded, async |bank| {
                let request = here.request(&bank, &of, files).await?;
                let shown = bank.banks.activate(request, request_deadline()).await?;
                Ok(ShownBank::of(shown))
            })?;
            output.answer(&shown, render::bank)
        }
        BankCommand::Activate(args) => {
            let activated = with_bank(loaded, async |bank| here.activate(&bank, args).await)?;
            output.answer(&activated, render::bank_document)
        }
        BankCommand::Update(args) => {
            let updated = with_bank_model(loaded, async |bank| here.update(&bank, args).await)?;
            output.answer(&updated, render::bank_updated)
        }
        BankCommand::History { of } => {
            let history = with_bank(loaded, async |bank| {
                let place = here.existing(&bank, &of).await?;
                Ok(BankVersions::of(bank.banks.history(&place, request_deadline()).await?))
            })?;
            output.answer(&history, render::bank_history)
        }
        BankCommand::Restore { version, of } => {
            let done = with_bank(loaded, async |bank| {
                let place = here.place(&bank, &of).await?;
                let RestoredVersion { kept, added_since } =
                    bank.banks.restore(&place, version, rewrite_deadline()).await?;
                let mut done = format!("the version {version} is back; what it replaced is the version {kept}");
                if !added_since.is_empty() {
                    let names: Vec<&str> = added_since.iter().map(BankPath::as_str).collect();
                    done.push_str(&format!("; files that came later stay: {}", names.join(", ")));
                }
                Ok(BankDone { bank: place.key.to_string(), done })
            })?;
            output.answer(&done, render::bank_done)
        }
        BankCommand::Adopt { path } => here.adopt(&path, output),
        BankCommand::Init { in_repo } => here.init(in_repo, output),
        BankCommand::Optimize { of } => {
            let done = with_bank_model(loaded, async |bank| {
                let place = here.place(&bank, &of).await?;
                let short = bank.banks.optimize(&place, rewrite_deadline()).await?;
                let mut done = match short.is_unchanged {
                    true => format!("nothing was made shorter: the bank has {} tokens", short.tokens),
                    false => format!("{} tokens before, {} now", short.tokens_before, short.tokens),
                };
                done.extend(short.left_to_rules.map(|why| format!("; {why}")));
                Ok(BankDone { bank: place.key.to_string(), done })
            })?;
            output.answer(&done, render::bank_done)
        }
        BankCommand::Sync { of } => {
            let done = with_bank(loaded, async |bank| {
                let place = here.place(&bank, &of).await?;
                bank.banks.sync(&place, request_deadline()).await?;
                Ok(BankDone { bank: place.key.to_string(), done: "everything is in the files".to_owned() })
            })?;
            output.answer(&done, render::bank_done)
        }
    }
}

/// The caller of a command: the settings and the directory it is called with.
pub(super) struct BankCaller<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) directory: &'a Path,
}

impl BankCaller<'_> {
    /// Returns the memory bank that a command changes, or makes.
    pub(super) async fn place(&self, bank: &SystemHandle, of: &BankArgs) -> Result<BankLocation, CommandFailure> {
        let place = self.existing(bank, of).await?;
        if place.key == self.found(bank).await?.0.key {
            return self.code(bank).await;
        }
        Ok(place)
    }

    /// Returns the memory bank that a command reads.
    async fn existing(&self, bank: &SystemHandle, of: &BankArgs) -> Result<BankLocation, CommandFailure> {
        let own = self.found(bank).await?.0;
        let Some(named) = &of.bank else { return Ok(own) };
        let key: BankKey = named.parse().map_err(Error::from)?;
        if key == own.key {
            return Ok(own);
        }
        let place = BankLocation { key, checkout: None };
        // A mistyped name must not make a memory bank. The user's own is there whenever it is asked for.
        if place.key != BankKey::global() && !bank.banks.exists(&place, request_deadline()).await? {
            return Err(
                Error::NotFound(format!("memory bank {}; bank list names those that there are", place.key)).into()
            );
        }
        Ok(place)
    }

    /// Returns the memory bank of the workspace, and registers that: the bank is changed, or made.
    async fn code(&self, bank: &SystemHandle) -> Result<BankLocation, CommandFailure> {
        let (place, workspace) = self.found(bank).await?;
        bank.memories.register(&workspace, request_deadline()).await?;
        Ok(place)
    }

    /// Returns the memory bank of the workspace, whether it was ever made or not.
    async fn found(&self, bank: &SystemHandle) -> Result<(BankLocation, Resolved), CommandFailure> {
        let resolved = bank.workspaces.resolve(&self.loaded.workspace, request_deadline()).await?;
        let BankLocation { key, checkout } = BankLocation::of_workspace(&resolved.workspace);
        Ok((BankLocation { key, checkout: self.work_tree().or(checkout) }, resolved))
    }

    /// Returns the work tree that the command is called in, where it is one of the workspace.
    pub(super) fn work_tree(&self) -> Option<PathBuf> {
        let tree = project::work_tree(self.directory)?;
        let root = project::root(&tree, self.directory, self.loaded.settings.workspace.identity).ok()?;
        (self.loaded.workspace.root() == Some(&*root)).then_some(tree)
    }

    async fn request(
        &self,
        bank: &SystemHandle,
        of: &BankArgs,
        files: Vec<BankPath>,
    ) -> Result<ActivateBank, CommandFailure> {
        let place = self.place(bank, of).await?;
        Ok(ActivateBank { files, ..whole(place) })
    }

    async fn activate(&self, bank: &SystemHandle, args: ActivateBankArgs) -> Result<BankActivation, CommandFailure> {
        let kind = BankKind::of_conversation(&args.conversation_type).map_err(Error::from)?;
        let place = match kind {
            BankKind::Global => BankLocation { key: BankKey::global(), checkout: None },
            BankKind::Project => {
                let key = BankKey::project(args.project_name.as_deref().unwrap_or_default()).map_err(Error::from)?;
                BankLocation { key, checkout: None }
            }
            BankKind::Code => self.code(bank).await?,
        };
        let id = place.key.id().to_owned();
        let request = ActivateBank {
            place,
            description: args.project_description,
            files: args.files,
            offset: args.offset,
            max_tokens: args.max_tokens,
            reader: NoticeReader::user(),
        };
        let shown = bank.banks.activate(request, request_deadline()).await?;
        Ok(BankActivation::of(&shown, id, &self.loaded.settings.llm.prompts))
    }

    async fn update(&self, bank: &SystemHandle, args: UpdateBankArgs) -> Result<BankUpdate, CommandFailure> {
        let place = self.place(bank, &args.of).await?;
        let content = match (&args.from, args.content) {
            (Some(path), _) => input::read(path)?,
            (None, Some(content)) if content == "-" => input::read(Path::new("-"))?,
            (None, content) => content.unwrap_or_default(),
        };
        let UpdateBankArgs { conversation_id, update_count, .. } = args;
        let reader = NoticeReader::user();
        let request = UpdateBank { place, content, conversation_id, update_count, writer: None, reader };
        Ok(BankUpdate::of(&bank.banks.update(request, rewrite_deadline()).await?))
    }

    fn adopt(&self, path: &Path, output: Output) -> Result<CommandExit, CommandFailure> {
        let folder = self.directory.join(path);
        if !folder.is_dir() {
            return Err(CommandFailure::usage(format!(
                "{} is no folder; bank init --in-repo makes one",
                path.display()
            )));
        }
        self.move_into(&folder, output)
    }

    fn init(&self, in_repo: bool, output: Output) -> Result<CommandExit, CommandFailure> {
        if !in_repo {
            let shown = with_bank(self.loaded, async |bank| {
                let request = self.request(&bank, &BankArgs { bank: None }, Vec::new()).await?;
                Ok(ShownBank::of(bank.banks.activate(request, request_deadline()).await?))
            })?;
            return output.answer(&shown, render::bank_place);
        }
        let root = self.work_tree().or_else(|| self.loaded.workspace.root().map(PathBuf::from));
        let root = root.ok_or_else(|| CommandFailure::usage("this workspace has no directory"))?;
        if !project::in_repository(&root) {
            return Err(CommandFailure::usage(format!(
                "{} lies in no Git repository; run `git init` there first, or name a folder with `bank adopt`",
                root.display()
            )));
        }
        let folder = root.join(FOLDER);
        let unwritable = |error| CommandFailure::usage(format!("{} cannot be made", folder.display())).caused_by(error);
        // A file such as .gitkeep holds the place of a folder.
        let is_hidden = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with('.'))
        };
        let is_empty = std::fs::read_dir(&folder).map_or(true, |mut entries| entries.all(is_hidden));
        // What the bank holds is read before an empty folder takes the place of one that was moved.
        let held = match is_empty {
            true => with_bank(self.loaded, async |bank| held_at(&self.code(&bank).await?, &bank).await)?,
            false => BankFiles::new(),
        };
        std::fs::create_dir_all(&folder).map_err(unwritable)?;
        let is_inside = folder.canonicalize().and_then(|folder| Ok(folder.starts_with(root.canonicalize()?)));
        if !is_inside.map_err(unwritable)? {
            return Err(CommandFailure::usage(format!("{} leads out of the checkout", folder.display())));
        }
        for (path, text) in held {
            let file = folder.join(path.as_str());
            let made = file.parent().map_or(Ok(()), std::fs::create_dir_all);
            made.and_then(|()| std::fs::write(file, text)).map_err(unwritable)?;
        }
        self.move_into(&folder, output)
    }

    /// Lets the memory bank of the workspace live in a folder.
    fn move_into(&self, folder: &Path, output: Output) -> Result<CommandExit, CommandFailure> {
        let shown = with_bank(self.loaded, async |bank| {
            let place = self.code(&bank).await?;
            let outside = || CommandFailure::usage("the folder must lie below the root of the checkout");
            let checkout = place.checkout.clone().ok_or_else(outside)?;
            let real = |path: &Path| path.canonicalize().map_err(|_| outside());
            let (real_folder, real_checkout) = (real(folder)?, real(&checkout)?);
            let relative = real_folder.strip_prefix(&real_checkout).map_err(|_| outside())?;
            let at_home = BankLocation { checkout: None, key: place.key.clone() };
            let mut left = Vec::new();
            for former in [&place, &at_home] {
                // A former folder that cannot be read must not keep anybody from leaving it.
                if bank.banks.exists(former, request_deadline()).await.unwrap_or_default() {
                    let request = ActivateBank { reader: NoticeReader::Nobody, ..whole(former.clone()) };
                    left.extend(bank.banks.activate(request, request_deadline()).await.ok());
                }
            }
            bank.banks.adopt(&place, relative, request_deadline()).await?;
            let shown = bank.banks.activate(whole(place), request_deadline()).await?;
            left.dedup_by(|one, other| one.directory == other.directory);
            left.retain(|former| {
                let says_nothing = former.content.is_empty() || former.content == template(BankKind::Code);
                let is_there = former.directory != shown.directory && former.directory.is_dir();
                is_there && !says_nothing && former.content != shown.content
            });
            let mut shown = ShownBank::of(shown);
            shown.notices.extend(left.iter().map(|former| {
                let files = counted(former.content.len(), "file", "files");
                let directory = former.directory.display();
                format!("what the bank had before stays in {directory}, with {files}, and is no longer a part of it")
            }));
            Ok(shown)
        })?;
        output.answer(&shown, render::bank_place)
    }
}

/// Returns the request to read all of a memory bank.
fn whole(place: BankLocation) -> ActivateBank {
    let (max_tokens, reader) = (usize::MAX, NoticeReader::user());
    ActivateBank { place, description: None, files: Vec::new(), offset: 0, max_tokens, reader }
}

/// Returns what a memory bank of kind code holds at a place: the template where it holds nothing.
async fn held_at(place: &BankLocation, bank: &SystemHandle) -> Result<BankFiles, CommandFailure> {
    let (texts, _) = bank.banks.texts(place, request_deadline()).await?;
    Ok(if texts.is_empty() { template(BankKind::Code) } else { texts })
}

impl ShownBank {
    fn of(shown: ActivatedBank) -> Self {
        let is_whole = shown.content.len() == shown.files.len();
        let shown_tokens = if is_whole { shown.tokens } else { bank_tokens(&shown.content) };
        Self {
            bank: shown.key.to_string(),
            directory: shown.directory,
            in_checkout: shown.is_adopted,
            tokens: shown.tokens,
            shown_tokens,
            pending: shown.pending,
            files: shown.content.into_iter().map(|(path, text)| (path.to_string(), text)).collect(),
            notices: shown.notices.into_iter().map(|notice| notice.description).collect(),
        }
    }
}
