"""Shows that each rule of structure.py can fail: a tree that keeps all of them, and one breach at a time."""

import tempfile
import unittest
from pathlib import Path

from structure import problems

KEPT = {
    "domain/src/lib.rs": "//! The rules.\npub mod high;\npub mod low;\n",
    "domain/src/low.rs": "//! Below.\npub struct Low;\n",
    "domain/src/high.rs": "//! Above, with a child that it uses and that uses it.\npub mod child;\nuse crate::low::Low;\n"
    "use self::child::Child;\npub struct High(Low, Child);\n",
    "domain/src/high/child.rs": "//! A child.\nuse super::High;\npub struct Child(Option<Box<High>>);\n"
    "#[cfg(test)]\nmod tests {\n    use rayon::prelude::*;\n}\n",
    "src/lib.rs": "//! The edges. What a comment says of unsafe code, or of lancedb::Table, is no use of it.\n"
    'const SAID: &str = "unsafe { rmcp::serve() }";\n',
    "src/store/lance.rs": "//! The store.\nuse lancedb::Table;\nstruct Private;\n",
    "src/mcp/server.rs": "//! The server.\nuse rmcp::model::Tool;\nstruct Private;\n",
    "index/src/kernels.rs": "//! Kernels.\nfn dot() { unsafe { next() } }\n",
    "actors/tests/system/main.rs": "fn main() {}\n",
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

    def test_what_keeps_all_rules_is_not_refused(self):
        self.assertEqual(self.found(), [])

    def test_modules_that_use_each_other(self):
        low = "//! Below.\nuse crate::high::High;\npub struct Low(Option<Box<High>>);\n"
        self.refuses("domain/src/low.rs", low, "domain: modules of the package use each other: high, low")

    def test_modules_that_use_each_other_without_an_import(self):
        low = "//! Below.\npub struct Low(Option<Box<crate::high::child::Child>>);\n"
        self.refuses("domain/src/low.rs", low, "use each other: high, low")

    def test_modules_that_use_each_other_by_a_name_that_their_parent_exports(self):
        files = {
            "actors/src/lib.rs": "//! A room.\nmod a;\nmod b;\npub use a::A;\n",
            "actors/src/a.rs": "//! A.\nuse crate::b::B;\npub struct A(B);\n",
            "actors/src/b.rs": "//! B.\nuse crate::A;\npub struct B(Option<Box<A>>);\n",
        }
        self.assertEqual(self.found(files=files), ["actors: modules of the package use each other: a, b"])

    def test_a_database_outside_of_the_store(self):
        self.refuses("src/cli.rs", "//! Commands.\nuse arrow_array::RecordBatch;\n", "src/cli.rs uses arrow_array")

    def test_the_protocol_outside_of_its_module(self):
        self.refuses("src/cli.rs", "//! Commands.\nuse rmcp::model::Tool;\n", "src/cli.rs uses rmcp")

    def test_unsafe_code_outside_of_its_homes(self):
        self.refuses("index/src/columns.rs", "//! Columns.\nunsafe fn read() {}\n", "columns.rs uses unsafe")

    def test_threads_in_the_domain(self):
        self.refuses("domain/src/low.rs", "//! Below.\nuse rayon::join;\npub struct Low;\n", "low.rs uses rayon")

    def test_files_in_the_domain(self):
        low = "//! Below.\nuse std::fs;\npub struct Low;\n"
        self.refuses("domain/src/low.rs", low, "low.rs uses std::fs, which belongs into index/src/, actors/src/, src/")

    def test_a_clock_in_the_domain(self):
        low = "//! Below.\npub struct Low;\nfn now() { jiff::Timestamp::now(); }\n"
        self.refuses("domain/src/low.rs", low, "low.rs uses Timestamp::now")

    def test_a_type_that_is_defined_twice(self):
        self.refuses("src/cli.rs", "//! Commands.\npub(crate) struct Low;\n", "the type Low is defined 2 times")

    def test_a_file_that_does_not_say_what_it_is_for(self):
        self.refuses("src/cli.rs", "fn main() {}\n", "does not open with what it is for")

    def test_a_long_file(self):
        self.refuses("src/cli.rs", "//! Commands.\n" + "\n" * 500, "src/cli.rs has 501 lines")

    def test_a_long_file_of_tests(self):
        self.refuses("actors/tests/system/main.rs", "\n" * 501, "main.rs has 501 lines")

    def test_a_module_named_mod(self):
        self.refuses("src/cli/mod.rs", "//! Commands.\n", "modules are named by their own file")


if __name__ == "__main__":
    unittest.main()
