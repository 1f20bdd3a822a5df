"""Shows that each rule of structure.py can fail: a tree that keeps all of them, and one breach at a time."""

import tempfile
import unittest
from pathlib import Path

from structure import problems

KEPT = {
    "domain/src/lib.rs": "//! The rules: `low`, `high` and `top`.\npub mod high;\npub mod low;\npub mod top;\n",
    "domain/src/top.rs": "//! On top, with names that only begin like those of others.\nuse rayon_free::join;\n"
    "use std::{iter, time::Duration};\npub struct Top;\n",
    "domain/src/low.rs": "//! Below.\npub struct Low;\n",
    "domain/src/high.rs": "//! Above, with a child that it uses and that uses it.\npub mod child;\nuse crate::low::Low;\n"
    "use self::child::Child;\npub struct High(Low, Child);\n",
    "domain/src/high/child.rs": "//! A child.\nuse super::High;\npub struct Child(Option<Box<High>>);\n"
    "#[cfg(test)]\nmod tests {\n    use rayon::prelude::*;\n}\n",
    "actors/src/lib.rs": "//! The actors, which may use clocks and threads.\nmod above;\nmod below;\n"
    "use std::{io, thread};\nfn now() { std::time::Instant::now(); }\n",
    "actors/src/runtime/slot.rs": "//! The glue.\nuse ractor::ActorRef;\npub struct Slot(pub ActorRef);\n",
    "actors/src/usage.rs": "//! An actor.\nuse ractor::{Actor, ActorRef as Ref};\npub struct UsageHandle { slot: Slot }\n"
    "impl UsageHandle {\n    pub fn wait(&self) {}\n    pub(crate) fn to(&self, to: Ref) {}\n}\n"
    "pub(crate) enum UsageMsg { Asked(Ref) }\npub(crate) struct UsageActor;\nimpl Actor for UsageActor {\n"
    "    async fn handle(&self, to: Ref) {\n        tasks.pipe(&to, async move { work().await });\n"
    "        tasks.spawn(async { work().await });\n    }\n    async fn post_stop(&self) { work().await }\n}\n",
    "actors/src/matts.rs": "//! A worker.\nimpl Worker for Matts { async fn handle(&self) { call().await } }\n",
    "actors/src/below.rs": "//! Below, with a name that several types give to a type.\npub struct Below;\n"
    "impl Iterator for Below {\n    type Item = Low;\n}\n",
    "actors/src/above.rs": "//! Above.\nuse crate::below::Below;\npub struct Above(Below);\nimpl Iterator for Above {\n"
    "    type Item = Below;\n}\n",
    "src/lib.rs": "//! The edges. What a comment says of unsafe code, or of lancedb::Table, is no use of it.\n"
    'const SAID: &str = "unsafe { rmcp::serve() }";\n',
    "store/src/lance.rs": "//! The store.\nuse lancedb::Table;\nstruct Private;\n",
    "src/mcp/server.rs": "//! The server.\nuse rmcp::model::Tool;\nstruct Server;\n",
    "src/mcp/tools/one.rs": "//! A tool.\nstruct Arguments;\n",
    "src/mcp/tools/two.rs": "//! Another.\nstruct Arguments;\n",
    "index/src/kernels.rs": "//! Kernels.\nfn dot() { unsafe { next() } }\n",
    "index/src/search.rs": "//! Computes on all cores.\nuse std::thread;\nuse rayon::join;\n",
    "actors/tests/system/main.rs": "use std::{env, fs};\nfn main() {}\n",
    "tests/it/store_formats.rs": "use lancedb::index::Index;\n",
    "tests/it/terminal.rs": "fn open() { unsafe { openpty() } }\n",
}


class Structure(unittest.TestCase):
    def found(self, **changed):
        with tempfile.TemporaryDirectory() as root:
            for path, text in (KEPT | changed.pop("files", {})).items():
                file = Path(root, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return list(problems(Path(root)))

    def refuses(self, path, text, said):
        found = self.found(files={path: text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(said, found[0])

    def refuses_each(self, path, lines, said):
        """Each line is refused by itself, at the end of a file that is not."""
        for line in lines:
            with self.subTest(line):
                self.refuses(path, KEPT.get(path, "//! A file.\n") + line + "\n", said)

    def test_what_keeps_all_rules_is_not_refused(self):
        self.assertEqual(self.found(), [])

    def test_modules_that_use_each_other(self):
        below = "//! Below.\nuse crate::above::Above;\npub struct Below(Option<Box<Above>>);\n"
        self.refuses("actors/src/below.rs", below, "actors: modules of the package use each other: above, below")

    def test_modules_that_use_each_other_without_an_import(self):
        below = "//! Below.\npub struct Below(Option<Box<crate::above::Above>>);\n"
        self.refuses("actors/src/below.rs", below, "use each other: above, below")

    def test_modules_that_use_each_other_under_another_name(self):
        for lines in ("use crate::above as over;", "use crate as all;\nfn f() { all::above::f(); }"):
            with self.subTest(lines):
                below = f"//! Below.\n{lines}\npub struct Below;\n"
                self.refuses("actors/src/below.rs", below, "use each other: above, below")

    def test_modules_that_use_each_other_by_a_name_that_their_parent_exports(self):
        files = {
            "actors/src/lib.rs": "//! A room.\nmod a;\nmod b;\npub use a::A;\n",
            "actors/src/a.rs": "//! A.\nuse crate::b::B;\npub struct A(B);\n",
            "actors/src/b.rs": "//! B.\nuse crate::A;\npub struct B(Option<Box<A>>);\n",
        }
        self.assertEqual(self.found(files=files), ["actors: modules of the package use each other: a, b"])

    def test_a_room_that_uses_a_later_one(self):
        lines = [
            "use crate::top::Top;",
            "pub use crate::top::Top as Large;",
            "use super::top as above;",
            "use crate::*;\nfn f() { top::f(); }",
            "fn f() { crate::top::f(); }",
        ]
        self.refuses_each("domain/src/low.rs", lines, "domain/src/low.rs uses top, a later room than its own")

    def test_a_child_of_a_room_that_uses_a_later_one(self):
        text = "//! A child.\nuse super::super::top::Top;\n"
        self.refuses("domain/src/low/child.rs", text, "domain/src/low/child.rs uses top, a later room than its own")

    def test_a_room_without_a_place_in_the_order(self):
        self.refuses("domain/src/attic.rs", "//! An attic.\n", "lib.rs gives the room attic no place in the order")

    def test_a_database_outside_of_the_store(self):
        for crate in ("arrow_array", "arrow_schema", "datafusion", "lance", "lance_index", "lancedb"):
            lines = [
                f"use {crate}::Table;",
                f"use {crate};",
                f"pub use {crate}::*;",
                f"use ::{crate}::Table;",
                f"use {{std::fmt, {crate}::{{self}}}};",
                f"use {crate} as db;\nfn f() {{ db::connect(); }}",
                f"extern crate {crate};",
                f"fn f() {{ {crate}::connect(); }}",
                f"fn f() {{ ::{crate}::connect(); }}",
                f"fn f() {{ <{crate}::Table>::open(); }}",
            ]
            for path in ("src/cli.rs", "actors/src/below.rs", "tests/it/main.rs", "index/benches/search.rs"):
                some = lines if crate == "lancedb" else lines[:1]
                self.refuses_each(path, some, f"{path} uses {crate}, which belongs")

    def test_a_database_in_a_test_module_outside_of_the_store(self):
        text = "//! Commands.\n#[cfg(test)]\nmod tests {\n    use lancedb::Table;\n}\n"
        self.refuses("src/cli.rs", text, "src/cli.rs uses lancedb")

    def test_the_protocol_outside_of_its_module(self):
        lines = ["use rmcp::model::Tool;", "use rmcp as x;", "fn f() { rmcp::serve(); }"]
        for path in ("src/cli.rs", "actors/src/below.rs", "tests/it/main.rs", "index/benches/search.rs"):
            self.refuses_each(path, lines, f"{path} uses rmcp, which belongs")

    def test_unsafe_code_outside_of_its_homes(self):
        for path in ("index/src/columns.rs", "tests/it/main.rs", "benches/resident.rs", "src/cli/tests.rs"):
            self.refuses_each(path, ["unsafe fn read() {}", "fn f() { unsafe { read() } }"], f"{path} uses unsafe")

    def test_threads_outside_of_their_homes(self):
        lines = ["use rayon::join;", "use rayon as x;", "fn f() { rayon::join(); }"]
        for path in ("domain/src/low.rs", "actors/src/below.rs", "src/cli.rs"):
            self.refuses_each(path, lines, f"{path} uses rayon")

    def test_threads_of_std_in_the_domain(self):
        lines = ["use std::thread;", "use std::{fmt, thread as t};", "fn f() { std::thread::spawn(); }"]
        self.refuses_each("domain/src/low.rs", lines, "low.rs uses std::thread, which belongs into index/src/")

    def test_files_in_the_domain_and_in_the_index(self):
        for module in ("env", "fs", "io", "net", "os", "process"):
            lines = [
                f"use std::{module};",
                f"use std::{module}::*;",
                f"use std::{{fmt, {module}::{{self, Other}}}};",
                f"use std::{module} as other;",
                f"use std as s;\nfn f() {{ s::{module}::f(); }}",
                f"use std::*;\nfn f() {{ {module}::f(); }}",
                f"fn f() {{ std::{module}::f(); }}",
            ]
            for path in ("domain/src/low.rs", "index/src/search.rs"):
                self.refuses_each(path, lines, f"{path} uses std::{module}, which belongs into ")

    def test_files_in_the_actors(self):
        for module in ("env", "fs", "net", "os", "process"):
            line = f"use std::{module};"
            self.refuses_each("actors/src/below.rs", [line], f"uses std::{module}, which belongs into store/src/")

    def test_a_handler_that_waits(self):
        handlers = [
            "impl Below { async fn handle(&self) { work().await; } }",
            "impl Below { async fn handle_supervisor_evt(&self) { work().await; } }",
            "impl Below { async fn handle(&self) { spawn(async move { a().await }); work()\n.await; } }",
        ]
        self.refuses_each("actors/src/below.rs", handlers, "awaits; start a task")

    def test_a_type_of_ractor_in_a_public_signature(self):
        lines = [
            "use ractor::ActorRef;\nimpl Below { pub fn to(&self) -> ActorRef { self.0 } }",
            "use ractor::ActorRef as Ref;\nimpl Below { pub async fn to(&self, to: Ref) {} }",
            "impl Below { pub fn to(&self) -> ractor::ActorRef { self.0 } }",
            "pub use ractor::ActorRef;",
            "pub type Ref = ractor::ActorRef;",
            "pub struct Open {\n    pub to: ractor::ActorRef,\n}",
            "pub struct Open(u8, pub ractor::ActorRef);",
            "pub enum Open {\n    To(ractor::ActorRef),\n}",
            "pub trait Open {\n    fn to(&self) -> ractor::ActorRef;\n}",
            "pub struct Open;\nimpl ractor::Actor for Open {}",
            "pub struct Open {\n    pub slot: Slot,\n}",
            "impl Below { pub fn gate(&self) -> &Gate { &self.gate } }",
        ]
        self.refuses_each("actors/src/below.rs", lines, "actors/src/below.rs shows ")

    def test_ractor_outside_of_the_actors(self):
        for path in ("src/cli.rs", "store/src/lance.rs", "tests/it/main.rs"):
            self.refuses_each(path, ["use ractor::Actor;"], f"{path} uses ractor, which belongs into actors/")

    def test_files_in_a_module_whose_name_ends_like_that_of_tests(self):
        self.refuses("domain/src/low/contests.rs", "//! Contests.\nuse std::fs;\n", "contests.rs uses std::fs")

    def test_a_clock_in_the_domain_and_in_the_index(self):
        std = [
            ("Instant", "fn f(at: std::time::Instant) { at.elapsed(); }"),
            ("SystemTime", "use std::time::SystemTime;"),
            ("UNIX_EPOCH", "fn f() { std::time::UNIX_EPOCH.elapsed(); }"),
            ("UNIX_EPOCH", "use std::time;\nfn f() { time::UNIX_EPOCH.elapsed(); }"),
            ("*", "use std::time::*;"),
        ]
        now = [
            ("jiff::Timestamp::now", "fn f() { jiff::Timestamp::now(); }"),
            ("jiff::Timestamp::now", "use jiff::Timestamp as At;\nfn f() { At::now(); }"),
            ("jiff::Timestamp::now", "type At = jiff::Timestamp;\nfn f() { At::now(); }"),
            ("jiff::Timestamp::now", "use jiff::Timestamp;\nfn f() { <Timestamp>::now(); }"),
            ("jiff::Zoned::now", "use jiff::Zoned;\nconst CLOCK: fn() -> Zoned = Zoned::now;"),
            ("tokio::time::Instant::now", "fn f() { tokio::time::Instant::now(); }"),
            ("jiff::tz::TimeZone::system", "fn f() { jiff::tz::TimeZone::system(); }"),
            ("jiff::tz::TimeZone::try_system", "fn f() { jiff::tz::TimeZone::try_system(); }"),
            ("uuid::Uuid::now_v7", "use uuid::Uuid;\nfn f() { Uuid::now_v7(); }"),
        ]
        for path in ("domain/src/low.rs", "index/src/search.rs"):
            for named, line in [(f"std::time::{named}", line) for named, line in std] + now:
                self.refuses_each(path, [line], f"{path} uses {named}, which belongs into actors/src/, store")

    def test_a_type_that_is_defined_twice(self):
        lines = [
            "pub(crate) struct Low;",
            "struct Low;",
            "enum Low {}",
            "trait Low {}",
            "union Low { a: u8 }",
            "type Low = u8;",
            "type Low<T>\nwhere\n    T: Copy,\n= Vec<T>;",
            "fn f() { struct Low; }",
            "fn f() {\n    type Low = u8;\n}",
            "impl Cli {\n    fn f() {\n        struct Low;\n    }\n}",
        ]
        self.refuses_each("src/cli.rs", lines, "the type Low is defined 2 times")

    def test_the_name_of_a_template_outside_of_its_folder(self):
        files = {f"src/{name}.rs": "//! Commands.\nstruct Arguments;\n" for name in ("cli", "demo")}
        self.assertEqual(len(self.found(files=files)), 1)

    def test_a_file_that_does_not_say_what_it_is_for(self):
        self.refuses("src/cli.rs", "fn main() {}\n", "does not open with what it is for")

    def test_a_long_file(self):
        self.refuses("src/cli.rs", "//! Commands.\n" + "\n" * 500, "src/cli.rs has 501 lines")

    def test_a_long_file_of_tests(self):
        self.refuses("actors/tests/system/main.rs", "\n" * 501, "main.rs has 501 lines")

    def test_a_page_that_names_what_is_not_there(self):
        page = "It is in `src/lib.rs` and `src/mcp/tools/`, and `tests/it/terminal.rs::open` holds it. See `Tables::open`.\n"
        self.assertEqual(self.found(files={"docs/ARCHITECTURE.md": page}), [])
        for gone in ("src/gone.rs", "src/gone/tools/", "tests/it/terminal.rs::gone", "tests/it/terminal.rs::ope"):
            with self.subTest(gone):
                self.refuses("docs/ARCHITECTURE.md", f"{page}So does `{gone}`.\n", f"names {gone}, which is not there")

    def test_an_actor_that_the_tree_leaves_out(self):
        child = '//! Children.\nfn child() { ChildSpec::actor("usage", Slot) }\n'
        tree = "## The tree\n\n```\nroot  one for one\n`- usage  what clients were shown\n```\n"
        files = {"actors/src/below.rs": child, "docs/ARCHITECTURE.md": tree}
        self.assertEqual(self.found(files=files), [])
        for path, text in {
            "actors/src/below.rs": child.replace("usage", "banks"),
            "docs/ARCHITECTURE.md": tree.replace("usage", "banks"),
        }.items():
            found = self.found(files=files | {path: text})
            self.assertEqual([problem.split()[2] for problem in found], ["banks", "usage"])

    def test_a_long_test(self):
        heads = [
            ("tests/it/main.rs", "#[test]\nfn told() {\n"),
            ("tests/it/main.rs", '#[tokio::test(flavor = "multi_thread")]\nasync fn told() {\n'),
            ("tests/it/main.rs", "#[rstest]\n#[case(1)]\n#[case(2)]\nfn told(#[case] n: u8) {\n"),
            ("src/cli/tests.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    #[ignore]\n    pub fn told() {\n"),
        ]
        for path, head in heads:
            indent = "    " * head.startswith("#[cfg")
            text = head + f"{indent}    if it() {{\n{indent}    }}\n" * 29 + f"{indent}}}\n" + "}\n" * bool(indent)
            with self.subTest(head):
                self.assertEqual(self.found(files={path: text}), [])
                text = text.replace("    if it", f"    it();\n{indent}    it();\n{indent}    if it", 1)
                self.refuses(path, text, "told has 6")

    def test_a_module_named_mod(self):
        self.refuses("src/cli/mod.rs", "//! Commands.\n", "modules are named by their own file")


if __name__ == "__main__":
    unittest.main()
