//! The tool `activate` begins with a memory bank.

use futures::FutureExt;
use reasoning_bank_actors::banks::ActivateBank;
use reasoning_bank_actors::error::Error;
use reasoning_bank_domain::bank::{BankKind, BankPath};
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::banks::{CalledBank, bank_of, is_nowhere, reader};
use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::banks::BankActivation;
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

const MAX_TOKENS: usize = 8_000;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "activate",
    title: "Begin with a memory bank",
    description: "Gives you the memory bank of the user, a project or a workspace: markdown files that people and \
                  agents share. Call it when a conversation begins, before you work.",
    toolsets: |_| &[Toolset::Banks],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<BankActivation>,
    effect: ToolEffect::Sets,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let kind = BankKind::of_conversation(&arguments.conversation_type).map_err(Error::from)?;
    let name = match kind {
        BankKind::Global => None,
        BankKind::Project => arguments.project_name.as_deref(),
        BankKind::Code => arguments.current_path.as_deref(),
    };
    if kind == BankKind::Code && name.is_some_and(|path| is_nowhere(calling, path)) {
        return Err(Error::invalid("current_path", "is not there; give the path of the workspace").into());
    }
    let bank = bank_of(calling, kind, name).await.map_err(|problem| of_path(problem, kind))?;
    if !calling.caller.may(Permission::Write) {
        may_be_read(calling, &bank, &arguments).await?;
    }
    let path = |name: &String| {
        let path = name.parse::<BankPath>();
        path.map_err(|invalid| Error::invalid("files", format!("{name:?} {}", invalid.problem)))
    };
    let files = arguments.files.iter().map(path).collect::<Result<_, _>>()?;
    if calling.caller.may(Permission::Write) {
        bank.register(calling).await?;
    }
    let request = ActivateBank {
        place: bank.place,
        description: arguments.project_description,
        files,
        offset: arguments.offset,
        max_tokens: arguments.max_tokens,
        reader: reader(calling),
    };
    let shown = calling.system.banks.activate(request, calling.deadline).await?;
    document(&BankActivation::of(&shown, bank.id, &calling.options.prompts)).map(quoted)
}

/// Checks that a caller who may only read makes no memory bank and fills none.
async fn may_be_read(calling: &Calling<'_>, bank: &CalledBank, arguments: &Arguments) -> Result<(), Interrupted> {
    if arguments.project_description.is_some() {
        return Err(Error::PermissionDenied(Permission::Write).into());
    }
    if !calling.system.banks.exists(&bank.place, calling.deadline).await? {
        let (kind, id) = (bank.place.key.kind().as_str(), &bank.id);
        let missing = format!("memory bank {kind}:{id}; a token with the permission write makes it");
        return Err(Error::NotFound(missing).into());
    }
    Ok(())
}

/// Names the argument that tells the workspace here.
fn of_path(problem: Interrupted, kind: BankKind) -> Interrupted {
    let problem = match problem {
        Interrupted::Failed(Error::TwoWorkspaces { named, bound, .. }) => {
            return Error::TwoWorkspaces { argument: "current_path", named, bound }.into();
        }
        Interrupted::Failed(Error::OtherWorkspace(named)) => format!(
            "{named} is not the workspace of this session; leave it out, or let the user list the toolset \"workspace\" in \
             mcp.toolsets of their own configuration"
        ),
        Interrupted::Failed(Error::WorkspaceRequired(why)) if kind == BankKind::Code => {
            format!("is missing, and no project is chosen{why}; give the path of a directory that exists")
        }
        Interrupted::Failed(Error::KeyRequired) if kind == BankKind::Code => {
            "is missing; give the key of the workspace, or name it in the header X-Workspace".to_owned()
        }
        other => return other,
    };
    Error::invalid("current_path", problem).into()
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// global, general or chat: the user's own bank. project or planning: that of a project. code, coding or
    /// development: that of a workspace.
    #[schemars(length(min = 1, max = 40))]
    conversation_type: String,
    /// The name of the project.
    #[schemars(length(max = 400))]
    project_name: Option<String>,
    /// The path of the workspace. Over the network its key.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    current_path: Option<String>,
    /// Its description. It fills an empty projectbrief.
    #[schemars(length(max = 20_000))]
    project_description: Option<String>,
    /// The files to read, as bank_info names them. All where there is none.
    #[serde(default)]
    #[schemars(length(max = 200))]
    files: Vec<String>,
    /// Where reading begins in the first of the files, as the answer before names it.
    #[serde(default)]
    offset: usize,
    /// The most tokens of the files.
    #[serde(default = "max_tokens")]
    #[schemars(range(min = 200, max = 100_000))]
    max_tokens: usize,
}

fn max_tokens() -> usize {
    MAX_TOKENS
}
