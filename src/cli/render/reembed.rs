//! The text of a change of the embedding model.

use super::counted;
use crate::cli::answers::Reembedded;

pub(in crate::cli) fn reembedded(done: &Reembedded) -> String {
    let Reembedded { from, to, changed, passages, seconds } = done;
    match (from, changed) {
        (Some(from), true) => {
            let passages = counted(*passages, "passage has", "passages have");
            format!("{passages} vectors of {to} now, in {seconds:.1} s; they were of {from}\n")
        }
        (Some(_), false) => format!("nothing to do: the vectors are those of {to}\n"),
        (None, _) => "nothing to do: nothing is kept yet\n".into(),
    }
}
