//! The binary. Everything is in the library, where tests reach it.

fn main() {
    // SAFETY: nothing has started a thread yet.
    unsafe { reasoning_bank_store::use_all_cores() };
    // The process does not end by returning: a read of stdin that still blocks must not hold it.
    reasoning_bank::embed::end_process(reasoning_bank::cli::run())
}
