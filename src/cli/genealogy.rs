//! The command `genealogy` shows the tree around a memory: as text, as a document, or for programs that draw.

use super::args::GenealogyArgs;
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::render;
use super::session::{request_deadline, with_bank};
use crate::settings::Loaded;

pub(super) fn command(args: &GenealogyArgs, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let tree = with_bank(loaded, async |bank| {
        Ok(bank.memories.genealogy(args.id, &loaded.workspace, args.depth, request_deadline()).await?)
    })?;
    output.answer(&tree, |tree| match (args.dot, args.mermaid) {
        (true, _) => tree.dot(),
        (_, true) => tree.mermaid(),
        (false, false) => render::genealogy(tree),
    })
}
