use proptest::prelude::*;
use rstest::rstest;

use super::*;

#[rstest]
#[case("ValueError", None, "valueerror|")]
#[case("std::num::ParseIntError", Some("Parsing"), "parseinterror|parsing")]
#[case("requests.exceptions.Timeout", None, "timeout|")]
#[case("ValueError: invalid literal for int()", Some("cli"), "valueerror|cli")]
#[case("valueerror|parsing", None, "valueerror|parsing")]
#[case("valueerror|parsing", Some("cli"), "valueerror|cli")]
#[case("off by one", None, "off by one|")]
#[case("off by one|algorithms", None, "off by one|algorithms")]
#[case("TypeError: unsupported operand type(s) for |: 'int' and 'str'", Some("python"), "typeerror|python")]
#[case("errors.Timeout.", None, "timeout|")]
#[case("", None, "|")]
fn everything_that_names_an_error_becomes_one_signature(
    #[case] raw: &str,
    #[case] domain: Option<&str>,
    #[case] signature: &str,
) {
    assert_eq!(Signature::of(raw, domain).as_str(), signature);
}

#[rstest]
// Python
#[case(
    "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    int('x')\nValueError: invalid literal for int(): 'x'",
    "valueerror|"
)]
#[case(
    "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"a.py\", line 5\nmy.pkg.LoadFailed: TypeError: no\nValueError: more of the message",
    "loadfailed|"
)]
#[case(
    "Traceback (most recent call last):\nFile \"a.py\", line 3, in <module>\nrequests.exceptions.ConnectionError: no",
    "connectionerror|"
)]
#[case("E   AssertionError: assert 1 == 2", "assertionerror|")]
#[case(
    "    def test_a():\n>       assert f() == 2\nE       assert 1 == 2\n\ntests/test_a.py:3: AssertionError\n1 failed",
    "assertionerror|"
)]
// Rust
#[case("error[E0382]: borrow of moved value: `x`", "e0382|")]
#[case("error[E0382]", "e0382|")]
#[case("E0382", "e0382|")]
#[case(
    "error[E0382]: borrow of moved value: `x`\n --> src/main.rs:4:20\n  |\n4 |     x\n  |     ^ value\n\nerror: aborting due to 1 previous error",
    "e0382|"
)]
#[case("thread 'main' panicked at src/a.rs:3:5:", "panic|")]
#[case(
    "thread 'main' panicked at src/a.rs:3:5:\nindex out of bounds: the len is 3 but the index is 5\nnote: run with `RUST_BACKTRACE=1`",
    "index out of bounds|"
)]
#[case("thread 'a' (4711) panicked at src/a.rs:3:5: index out of bounds: the len is 3", "index out of bounds|")]
#[case(
    "thread 'main' panicked at 'index out of bounds: the len is 3 but the index is 5', src/a.rs:3:5",
    "index out of bounds|"
)]
#[case(
    "thread 'main' panicked at src/a.rs:3:5:\ncalled `Result::unwrap()` on an `Err` value: ParseIntError { kind: InvalidDigit }",
    "parseinterror|"
)]
#[case(
    "thread 'main' panicked at src/a.rs:3:5:\ncalled `Result::unwrap()` on an `Err` value: Os { code: 2, kind: NotFound, message: \"No such file or directory\" }",
    "no such file or directory|"
)]
// C and its like
#[case("src/a.c:3:5: error: use of undeclared identifier 'x'", "use of undeclared identifier|")]
#[case("src/b.c:70: error: use of undeclared identifier 'yy'", "use of undeclared identifier|")]
#[case("a.c:1:10: fatal error: foo.h: No such file or directory", "no such file or directory|")]
#[case("src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.", "ts2322|")]
#[case("src/a.ts:3:5 - error TS2322: Type 'string' is not assignable", "ts2322|")]
// Java
#[case("Exception in thread \"main\" java.lang.IllegalStateException: no", "illegalstateexception|")]
#[case(
    "java.lang.RuntimeException: a\n\tat a.B.c(B.java:3)\nCaused by: java.io.IOException: b\n\tat a.B.d(B.java:9)\nCaused by: java.lang.NullPointerException\n\t... 5 more",
    "nullpointerexception|"
)]
#[case(
    "Unhandled exception. System.NullReferenceException: Object reference\n   at A.B() in /a/b.cs:line 5",
    "nullreferenceexception|"
)]
// Node
#[case(
    "/app/index.js:3\n    throw new TypeError('x')\n    ^\n\nTypeError: x\n    at Object.<anonymous> (/app/index.js:3:9)\n    at node:internal/main/run_main_module:23:47\n\nNode.js v20.1.0",
    "typeerror|"
)]
#[case(
    "node:internal/errors:496\n    ErrorCaptureStackTrace(err);\n    ^\n\nError [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'\n    at new NodeError (node:internal/errors:405:5) {\n  code: 'ERR_MODULE_NOT_FOUND'\n}",
    "err_module_not_found|"
)]
#[case("ERR_MODULE_NOT_FOUND", "err_module_not_found|")]
#[case("Error: ENOENT: no such file or directory, open 'x'", "enoent|")]
#[case("Uncaught (in promise) TypeError: x is not a function", "typeerror|")]
#[case("Error: what happened", "error|")]
#[case("Error: listen EADDRINUSE: address already in use :::3000", "eaddrinuse|")]
#[case("Error: connect ECONNREFUSED 127.0.0.1:5432", "econnrefused|")]
#[case("Error: spawn convert ENOENT", "enoent|")]
#[case("EACCES: permission denied, mkdir '/usr/lib/node_modules'", "eacces|")]
#[case("ERROR: relation \"orders\" does not exist", "relation does not exist|")]
#[case("npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree", "eresolve|")]
#[case("npm ERR! code E404", "e404|")]
// Logs and runners
#[case("FAILED tests/test_a.py::test_x - AttributeError: 'User' object has no attribute 'id'", "attributeerror|")]
#[case(
    "E   KeyError: 'uid'\n\ntests/test_a.py:3: KeyError\nFAILED tests/test_a.py::test_x - KeyError: 'uid'",
    "keyerror|"
)]
#[case("2026-11-28 10:00:00,123 ERROR api.views KeyError: 'uid'", "keyerror|")]
#[case("[ERROR] java.lang.NullPointerException: Cannot invoke f()", "nullpointerexception|")]
#[case("\u{1b}[31mKeyError: 'uid'\u{1b}[0m", "keyerror|")]
#[case("NullReferenceException：对象引用未设置", "nullreferenceexception|")]
#[case("./run.sh: line 3: 12345 Segmentation fault (core dumped) ./server", "segmentation fault|")]
// Go
#[case(
    "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x.go:8 +0x1d\nexit status 2",
    "index out of range with length|"
)]
#[case("panic: runtime error: index out of range [9] with length 1", "index out of range with length|")]
#[case("panic: open a.txt: no such file or directory", "no such file or directory|")]
#[case("panic: assignment to entry in nil map", "assignment to entry in nil map|")]
// shells and others
#[case("bash: foo: command not found", "command not found|")]
#[case("bash: line 3: foo: command not found", "command not found|")]
#[case("zsh: command not found: foo", "command not found|")]
#[case("/bin/sh: 1: foo: not found", "not found|")]
#[case("ls: cannot access 'x': No such file or directory", "no such file or directory|")]
#[case("fatal: not a git repository (or any of the parent directories): .git", "not a git repository|")]
#[case("app.rb:3:in `a': undefined method `b' for nil (NoMethodError)", "nomethoderror|")]
#[case("PHP Fatal error:  Uncaught TypeError: no in /a.php:3", "typeerror|")]
fn what_a_program_printed_becomes_the_signature_of_its_error(#[case] raw: &str, #[case] signature: &str) {
    let made = Signature::of(raw, None);
    assert_eq!(made.as_str(), signature);
    assert_eq!(Signature::of(made.as_str(), None), made);
    assert_eq!(Signature::of(&format!("\n{raw}\n"), Some("Cli")).as_str(), format!("{signature}cli"));
}

#[test]
fn a_signature_without_a_domain_matches_any_domain() {
    let bare = Signature::of("ValueError", None);
    let parsing = Signature::of("ValueError", Some("parsing"));
    let network = Signature::of("ValueError", Some("network"));
    assert!(bare.matches(&parsing) && parsing.matches(&bare));
    assert!(!parsing.matches(&network));
    assert!(!Signature::of("", None).matches(&Signature::of("", None)), "nothing is no kind of error");
}

#[test]
fn queries_that_mention_an_error_are_recognised() {
    assert!(mentions_error("why does the test fail with TypeError?"));
    assert!(!mentions_error("use a terror-free retry strategy"));
}

fn raw() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,30}",
        "[A-Za-z]{1,8}(::|\\.|/)[A-Z][a-z]{1,6}Error(: [a-z |]{0,20})?",
        "[a-zA-Z ]{1,10}\\|[a-zA-Z ]{0,8}",
        "(E  |error: |panic: |bash: |thread 'a' panicked at |[a-z]{1,3}\\.rs:3:5: |Caused by: |Error \\[|'|\n|\\(){1,4}\\PC{0,20}",
    ]
}

proptest! {
    #[test]
    fn a_signature_made_of_a_signature_is_the_same(raw in raw(), domain in prop::option::of("[A-Za-z ]{0,8}")) {
        let signature = Signature::of(&raw, domain.as_deref());
        prop_assert_eq!(Signature::of(signature.as_str(), None), signature);
    }

    #[test]
    fn to_match_is_mutual_and_everything_with_a_name_matches_itself(a in raw(), b in raw(), domain in "[a-z]{0,4}") {
        let (a, b) = (Signature::of(&a, Some(&domain)), Signature::of(&b, None));
        prop_assert_eq!(a.matches(&b), b.matches(&a));
        prop_assert_eq!(a.matches(&a), !a.error().is_empty());
    }

    #[test]
    fn case_and_path_never_make_another_signature(name in "[A-Za-z]{1,10}", path in "[a-z]{1,5}") {
        let plain = Signature::of(&name, None);
        for other in [name.to_uppercase(), format!("{path}::{name}"), format!("{path}.{name}: no luck")] {
            prop_assert_eq!(&Signature::of(&other, None), &plain);
        }
    }
}
