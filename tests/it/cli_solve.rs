//! Tests of `solve` through the real binary, on the simulated model.

use crate::support::{Place, Ran};

#[test]
fn a_task_is_solved_and_the_next_one_is_told_what_was_learned() {
    let place = Place::with_instant_model();
    let solve = |task: &str| place.run(&["--llm", "simulated", "--json", "solve", task]).ok().json();
    let first = solve("Write a binary search that finds a number in a sorted list.");
    assert_eq!(first["outcome"], "success");
    assert_eq!(first["attempts"].as_array().unwrap().len(), 5);
    assert_eq!(first["memories_used"].as_array().unwrap().len(), 0);
    let second = solve("Find where to insert a number into a sorted list so that it stays sorted.");
    assert_eq!(second["memories_used"][0]["id"], first["learnings"][0]["id"]);
}

#[test]
fn a_task_from_stdin_that_is_judged_a_failure_exits_with_1_and_shows_its_report() {
    let place = Place::with_instant_model();
    let arguments = ["--llm", "simulated", "solve", "--matts-k", "2", "--no-store", "-"];
    let ran = place.run_with_stdin(&arguments, "Say something impossible [fail]").exits(1);
    assert!(ran.stdout.contains("outcome   failure, by the judge"), "{}", ran.stdout);
    assert!(ran.stdout.contains("simulated") && !ran.stdout.contains("learned"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
    assert_eq!(place.run(&["memory", "export", "--all"]).ok().stdout, "");
}

#[test]
fn a_task_that_is_empty_or_too_long_is_refused() {
    let place = Place::with_instant_model();
    for task in ["", " \n", &"long ".repeat(200_000), &"x".repeat(5_000_000)] {
        let ran = place.run_with_stdin(&["--llm", "simulated", "--json", "solve", "-"], task).exits(2);
        assert_eq!(ran.json()["error"]["code"], "invalid_argument");
    }
}

#[test]
fn a_budget_that_is_used_up_is_told_with_the_best_solution() {
    let place = Place::with_instant_model();
    let mut command = place.command(&["--llm", "simulated", "--json", "solve", "Write a sort"]);
    command.env("REASONING_BANK__AGENT__TOTAL_TOKEN_BUDGET", "600").env("REASONING_BANK__MATTS__K", "1");
    let ran = Ran::of(command.output().unwrap()).exits(1);
    assert_eq!(ran.json()["error"]["code"], "token_budget_exceeded");
}

#[test]
fn a_provider_that_cannot_be_used_ends_the_start_at_once_with_the_alternatives() {
    let place = Place::with_instant_model();
    for command in [&["mcp"][..], &["solve", "task"]] {
        let ran = place.run(command).exits(2);
        assert!(ran.stderr.contains("OPENROUTER_API_KEY"), "{}", ran.stderr);
        assert!(ran.stderr.contains("--llm simulated") && ran.stderr.contains("--llm none"), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
    let as_json = place.run(&["--json", "solve", "task"]).exits(2);
    assert_eq!(as_json.json()["error"]["code"], "llm_key_missing");
    assert_eq!(place.run(&["--llm", "none", "solve", "task"]).exits(2).stdout, "");
}

#[test]
fn a_check_by_command_decides_over_the_judge_and_the_trace_says_so() {
    let place = Place::with_instant_model();
    place.write("project/expected.txt", "the directory is that of the workspace");
    let check = "test -s \"$REASONING_BANK_SOLUTION\" && test -f expected.txt && cat > seen.txt";
    let solve = |check: &str, task: &str| {
        place.run(&["--llm", "simulated", "--json", "solve", "--matts-k", "1", "--verify", check, task])
    };
    let passed = solve(check, "Say something impossible [fail]").ok().json();
    assert_eq!((&passed["outcome"], &passed["verdict_source"]), (&"success".into(), &"evidence".into()), "{passed}");
    assert_eq!(std::fs::read_to_string(place.path("project/seen.txt")).unwrap(), passed["solution"].as_str().unwrap());

    let failed = solve("echo 1 test failed; exit 7", "Write a sort").exits(1).json();
    assert_eq!((&failed["outcome"], &failed["verdict_source"]), (&"failure".into(), &"evidence".into()));
    assert_eq!(failed["evidence"]["detail"], "exit code 7\n1 test failed");
    let exported = place.run(&["memory", "export"]).ok().stdout;
    assert!(exported.contains("exit_code failed: exit code 7"), "{exported}");

    let unclear = solve("no-such-command-anywhere", "Write a sort").ok().json();
    assert_eq!(unclear["verdict_source"], "judge");
    assert!(unclear["warnings"].to_string().contains("not_verified"), "{unclear}");
    assert_eq!(solve(" ", "Write a sort").exits(2).json()["error"]["code"], "invalid_argument");
}

#[test]
fn a_check_runs_where_the_workspace_is_and_not_where_the_command_was_called() {
    let place = Place::with_instant_model();
    std::fs::create_dir_all(place.path("other/deep")).unwrap();
    let solve = |workspace: &str| {
        let check = "pwd > where.txt";
        let arguments = [
            "--llm",
            "simulated",
            "--json",
            "--workspace",
            workspace,
            "solve",
            "--no-matts",
            "--verify",
            check,
            "Sort",
        ];
        place.run(&arguments)
    };
    let solved = solve(place.path("other").to_str().unwrap()).ok().json();
    assert_eq!(solved["verdict_source"], "evidence");
    let canonical = place.path("other").canonicalize().unwrap();
    let ran_in = || std::fs::read_to_string(place.path("other/where.txt")).unwrap();
    assert_eq!(ran_in().trim(), canonical.to_str().unwrap());
    assert!(!place.path("project/where.txt").exists());

    let git = |arguments: &[&str]| {
        let made = std::process::Command::new("git").arg("-C").arg(&canonical).args(arguments).output().unwrap();
        assert!(made.status.success(), "{made:?}");
    };
    git(&["init", "-q"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first"]);
    git(&["worktree", "add", "-q", "../linked"]);
    std::fs::remove_file(place.path("other/where.txt")).unwrap();
    solve(place.path("other/deep").to_str().unwrap()).ok();
    assert_eq!(ran_in().trim(), canonical.to_str().unwrap(), "at the top of the repository");
    solve(place.path("linked").to_str().unwrap()).ok();
    assert!(place.path("linked/where.txt").exists(), "in the work tree that is named");

    let gone = solve(place.path("nowhere").to_str().unwrap()).exits(2).json();
    assert!(gone["error"]["message"].as_str().unwrap().contains("does not exist"), "{gone}");
    let listed = place.run(&["--json", "trace", "list"]).ok().json();
    assert_eq!(listed["traces"].as_array().unwrap().len(), 0, "nothing was solved");
}

#[test]
fn a_solve_says_when_the_team_that_its_checkout_proposes_was_not_read() {
    let place = Place::with_instant_model();
    place.write("project/.reasoning-bank.toml", "[workspace]\nteam = \"blue\"\n");
    let solve = || place.run(&["--llm", "simulated", "--json", "solve", "--no-matts", "Write a sort"]).ok().json();
    let solved = solve();
    assert!(solved["warnings"].to_string().contains("workspace trust"), "{solved}");
    place.run(&["workspace", "trust", ".", "--yes"]).ok();
    let trusted = solve();
    assert!(!trusted["warnings"].to_string().contains("workspace trust"), "{trusted}");
}
