//! Attacks that a hostile checkout, client, disk, file, network or text may try against the real binary. In every
//! family the same holds: no secret and no memory leaks, nothing is written into another project, no work is unbounded,
//! and the process goes on answering.

mod checkout;
mod client;
mod disk;
mod file;
mod network;
mod text;

/// Each family counts the inputs that its tests go through.
#[test]
fn the_suite_tries_at_least_four_hundred_inputs() {
    let families =
        [checkout::inputs(), client::inputs(), disk::inputs(), file::inputs(), network::inputs(), text::inputs()];
    let all: usize = families.iter().sum();
    assert!(all >= MINIMUM, "{all} inputs: {families:?}");
}

const MINIMUM: usize = 400;
