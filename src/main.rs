//! The binary. Everything is in the library, where tests reach it.

fn main() {
    // Not by returning: a read of stdin that still blocks must not hold the process.
    std::process::exit(reasoning_bank::cli::run());
}
