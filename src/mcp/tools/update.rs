//! The tool `update` files text in a memory bank.

use futures::FutureExt;
use reasoning_bank_actors::banks::{CONVERSATION_MAX_CHARS, UpdateBank};
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::BankLocation;
use reasoning_bank_domain::bank::{BANK_FILE_MAX_BYTES, BankKind};
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::banks::{must_exist, named, reader, session, writer};
use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::banks::BankUpdate;
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "update",
    title: "File text in a memory bank",
    description: "Files text in the bank that activate gave you, each part in the file and section where it belongs. \
                  Call it after a decision, a finished task, a blocker, a preference, or an error with its fix.",
    toolsets: |_| &[Toolset::Banks],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<BankUpdate>,
    effect: ToolEffect::Adds,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let Arguments { content, conversation_id, update_count, bank } = calling.extract()?;
    if update_count.is_some() && conversation_id.is_none() {
        let problem = "counts the updates of a conversation; give its conversation_id, too";
        return Err(Error::invalid("update_count", problem).into());
    }
    let session = session(calling);
    let banks = &calling.system.banks;
    let place = match (bank, &session) {
        (Some(bank), _) => Some(known(calling, &bank).await?),
        (None, Some(session)) => banks.active(session).await,
        (None, None) => None,
    };
    let missing =
        || Error::invalid("bank", "is missing, and this session has no bank; call activate first, or name one");
    let place = place.ok_or_else(missing)?;
    let (writer, reader) = (writer(calling), reader(calling));
    let request = UpdateBank { place, content, conversation_id, update_count, writer, reader };
    match calling.banks().update(request, calling.deadline).await {
        Ok(updated) => document(&BankUpdate::of(&updated)),
        // A script looks at the status of its answer alone.
        Err(error @ Error::Store(_)) if !calling.client.is_script() => {
            document(&BankUpdate::failed(calling.caller.told(error).to_string()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the memory bank that is named. A project's must have been activated once, so that a mistyped name makes
/// none.
async fn known(calling: &Calling<'_>, bank: &str) -> Result<BankLocation, Interrupted> {
    let called = named(calling, bank).await?;
    if called.place.key.kind() == BankKind::Project {
        must_exist(calling, &called.place, bank).await?;
    }
    called.register(calling).await?;
    Ok(called.place)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Text to keep, in full sentences. Headings, lists and paragraphs are filed one by one.
    #[schemars(length(min = 1, max = BANK_FILE_MAX_BYTES))]
    content: String,
    /// With update_count: the same update again adds nothing.
    #[schemars(length(min = 1, max = CONVERSATION_MAX_CHARS))]
    conversation_id: Option<String>,
    update_count: Option<u64>,
    /// The bank as type:id. The one that was activated where there is none.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    bank: Option<String>,
}
