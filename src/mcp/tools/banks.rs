//! The part that the tools of memory banks share: which memory bank a call is about.

use std::path::PathBuf;

use reasoning_bank_actors::banks::NoticeReader;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::BankLocation;
use reasoning_bank_actors::workspaces::{Resolved, WorkspaceRef};
use reasoning_bank_domain::access::Principal;
use reasoning_bank_domain::bank::{BankHolder, BankKey, BankKind, project_slug};
use reasoning_bank_domain::memory::workspace::WorkspaceId;

use crate::mcp::caller::Caller;
use crate::mcp::calls::{Calling, Interrupted};
use crate::project;

/// The memory bank of a call, and the id under which its caller knows it.
pub(super) struct CalledBank {
    pub(super) place: BankLocation,
    pub(super) id: String,
    /// The workspace whose bank it is.
    workspace: Option<Resolved>,
}

impl CalledBank {
    /// Registers the workspace whose bank it is, for a call that makes or changes the bank.
    pub(super) async fn register(&self, calling: &Calling<'_>) -> Result<(), Error> {
        match &self.workspace {
            Some(workspace) => calling.register(workspace).await,
            None => Ok(()),
        }
    }
}

/// Returns the memory bank of a kind, and makes none. `name` is the name of the project, or the path or key of the workspace.
pub(super) async fn bank_of(
    calling: &Calling<'_>,
    kind: BankKind,
    name: Option<&str>,
) -> Result<CalledBank, Interrupted> {
    match (kind, &calling.caller) {
        (BankKind::Global, Caller::User { .. }) => {
            let key = BankKey::global();
            let id = key.id().to_owned();
            Ok(at_home(key, &id))
        }
        // A name that a holder gives leads nowhere but to what is their own or their team's.
        (BankKind::Global, Caller::Holder { principal, .. }) => {
            Ok(at_home(holder(principal).own(), BankKey::global().id()))
        }
        (BankKind::Project, caller) => {
            let name = name.unwrap_or_default();
            let slug = project_slug(name).map_err(Error::from)?;
            match caller {
                Caller::User { .. } => Ok(at_home(BankKey::project(name).map_err(Error::from)?, &slug)),
                Caller::Holder { principal, .. } => Ok(at_home(holder(principal).project(&slug), &slug)),
            }
        }
        (BankKind::Code, _) => code(calling, name).await,
    }
}

fn holder(principal: &Principal) -> BankHolder<'_> {
    BankHolder { team: principal.team.as_deref(), owner: &principal.owner }
}

/// Returns the memory bank of no workspace.
fn at_home(key: BankKey, id: &str) -> CalledBank {
    CalledBank { place: BankLocation { key, checkout: None }, id: id.to_owned(), workspace: None }
}

async fn code(calling: &Calling<'_>, name: Option<&str>) -> Result<CalledBank, Interrupted> {
    let workspace = calling.workspace(name).await?;
    let resolved = calling.resolved(&workspace).await?;
    let BankLocation { key, checkout: root } = BankLocation::of_workspace(&resolved.workspace);
    let (checkout, id) = match &calling.caller {
        Caller::User { .. } => (work_tree(calling, name, &workspace).or(root), key.id().to_owned()),
        Caller::Holder { .. } => {
            let shared = resolved.workspace.key.as_ref().map(ToString::to_string);
            (None, shared.unwrap_or_else(|| key.id().to_owned()))
        }
    };
    Ok(CalledBank { place: BankLocation { key, checkout }, id, workspace: Some(resolved) })
}

/// Returns the work tree that a call is made in, where it is one of its workspace. None over the network.
pub(super) fn work_tree(calling: &Calling<'_>, name: Option<&str>, workspace: &WorkspaceRef) -> Option<PathBuf> {
    let is_here = matches!(calling.caller, Caller::User { .. });
    let here = is_here.then(|| calling.options.base.join(name.unwrap_or_default()))?;
    project::work_tree(&here).filter(|tree| is_of(calling, tree, workspace))
}

/// Says whether a work tree is one of a workspace.
fn is_of(calling: &Calling<'_>, tree: &std::path::Path, workspace: &WorkspaceRef) -> bool {
    let root = project::root(tree, &calling.options.base, calling.options.identity);
    root.is_ok_and(|root| workspace.root() == Some(&*root))
}

/// Returns the memory bank that a text such as `project:my-app` names.
pub(super) async fn named(calling: &Calling<'_>, text: &str) -> Result<CalledBank, Interrupted> {
    let problem =
        || Error::invalid("bank", "must be type:id, as bank_info of activate has them, such as project:my-app");
    let (kind, id) = text.split_once(':').ok_or_else(problem)?;
    let kind = BankKind::ALL.into_iter().find(|known| known.as_str() == kind).ok_or_else(problem)?;
    let unknown = || Error::NotFound(format!("memory bank {text}; activate names the banks"));
    match (kind, &calling.caller) {
        // Everybody has one of them.
        (BankKind::Global, _) if id != BankKey::global().id() => Err(unknown().into()),
        (BankKind::Project, Caller::User { .. }) => {
            let key: BankKey = text.parse().map_err(Error::from)?;
            let id = key.id().to_owned();
            Ok(at_home(key, &id))
        }
        (BankKind::Code, Caller::User { .. }) if is_nowhere(calling, id) => Err(unknown().into()),
        _ => bank_of(calling, kind, Some(id).filter(|id| !id.is_empty())).await,
    }
}

/// Returns the memory bank that a text names, which is there.
pub(super) async fn existing(calling: &Calling<'_>, text: &str) -> Result<CalledBank, Interrupted> {
    let bank = named(calling, text).await?;
    must_exist(calling, &bank.place, text).await?;
    Ok(bank)
}

/// Checks that a memory bank, which a text names, is there.
pub(super) async fn must_exist(calling: &Calling<'_>, place: &BankLocation, text: &str) -> Result<(), Interrupted> {
    match calling.system.banks.exists(place, calling.deadline).await? {
        true => Ok(()),
        false => Err(Error::NotFound(format!("memory bank {text}; call activate first, which makes it")).into()),
    }
}

/// Says whether the workspace that a user of this machine names is neither an id nor a path that exists: a mistyped one
/// must not get a memory bank of its own.
pub(super) fn is_nowhere(calling: &Calling<'_>, workspace: &str) -> bool {
    let is_user = matches!(calling.caller, Caller::User { .. });
    is_user && workspace.parse::<WorkspaceId>().is_err() && !calling.options.base.join(workspace).exists()
}

/// Names the session of a call, which its active memory bank belongs to. None over the network, where a request stands
/// for itself.
pub(super) fn session(calling: &Calling<'_>) -> Option<String> {
    match &calling.caller {
        Caller::User { session, .. } => Some((*session).to_owned()),
        Caller::Holder { conversation, .. } => {
            let conversation = conversation.as_ref()?;
            Some(format!("{}\0{conversation}", calling.caller.identity()))
        }
    }
}

/// Returns whoever numbers the updates of a call. Only over the network several have a memory bank in common.
pub(super) fn writer(calling: &Calling<'_>) -> Option<String> {
    matches!(calling.caller, Caller::Holder { .. }).then(|| calling.caller.identity())
}

/// Returns whoever is told of the notices of a call.
pub(super) fn reader(calling: &Calling<'_>) -> NoticeReader {
    let caller = || NoticeReader::Caller(format!("holder/{}", calling.caller.identity()));
    session(calling).map_or_else(caller, NoticeReader::Session)
}
