//! One binary for everything that is tested from outside.

mod embedding;
