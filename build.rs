//! Asks the linker for a smaller binary that starts faster. Functions with the same code are kept once; only LLD knows
//! that, which rustc uses on Linux on x86-64. The executable has a fixed address, so that nothing in it has to be
//! relocated when it starts. docs/adr/0010-one-build.md has the numbers.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part: &str| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if (target("ARCH"), target("OS"), target("ENV")) == ("x86_64".into(), "linux".into(), "gnu".into()) {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
