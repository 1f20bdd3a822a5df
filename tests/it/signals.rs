//! Evidence from several processes adds up: each vote that was acknowledged counts once, whoever is killed meanwhile.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::{Place, Ran};

/// Calls that one process has in flight.
const AT_ONCE: usize = 4;

/// How one process voted.
struct Votes {
    /// By their comment, which is unlike any other.
    attempted: BTreeMap<String, bool>,
    acknowledged: Vec<String>,
    was_killed: bool,
}

/// Three helpful ones in eight balance the others nearly: confidence stays where a single vote can be seen.
fn is_helpful(n: usize) -> bool {
    matches!(n % 8, 0 | 3 | 6)
}

/// Votes through a server until it has answered `votes` times, or is killed with others in flight after so many.
fn votes_of_a_server(place: &Place, id: &str, name: &str, votes: usize, killed_after: Option<usize>) -> Votes {
    let mut server = McpProcess::initialized(place, &["--llm", "none"]);
    let mut done = Votes { attempted: BTreeMap::new(), acknowledged: Vec::new(), was_killed: killed_after.is_some() };
    let send = |server: &mut McpProcess, done: &mut Votes, n: usize| {
        let comment = format!("{name} {n}");
        done.attempted.insert(comment.clone(), is_helpful(n));
        let arguments = json!({"memory_ids": [id], "helpful": is_helpful(n), "comment": comment});
        let params = json!({"name": "report_outcome", "arguments": arguments});
        server.send(&json!({"id": n, "method": "tools/call", "params": params}));
    };
    (0..AT_ONCE).for_each(|n| send(&mut server, &mut done, n));
    for answered in 1..=killed_after.unwrap_or(votes) {
        let answer = server.read();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        done.acknowledged.push(format!("{name} {}", answer["id"]));
        let next = answered + AT_ONCE - 1;
        if next < votes {
            send(&mut server, &mut done, next);
        }
    }
    if done.was_killed {
        server.kill();
    }
    done
}

fn votes_by_hand(place: &Place, id: &str, name: &str, votes: usize) -> Votes {
    let mut done = Votes { attempted: BTreeMap::new(), acknowledged: Vec::new(), was_killed: false };
    for n in 0..votes {
        let comment = format!("{name} {n}");
        let vote = if is_helpful(n) { "--helpful" } else { "--not-helpful" };
        let mut command = place.command(&["memory", "feedback", id, vote, "--comment", &comment]);
        Ran::of(command.output().unwrap()).ok();
        done.attempted.insert(comment.clone(), is_helpful(n));
        done.acknowledged.push(comment);
    }
    done
}

fn odds_of(confidence: f64) -> f64 {
    (confidence / (1.0 - confidence)).ln()
}

#[test]
fn votes_of_several_processes_some_of_them_killed_add_up_to_what_was_acknowledged() {
    let place = Place::new();
    let lesson = ["--title", "Bound retries", "--description", "A flaky service", "--content", "At most three"];
    let recorded = place.run(&[&["--json", "memory", "record"], &lesson[..]].concat()).ok().json();
    let id = recorded["id"].as_str().unwrap();
    let voted: Vec<Votes> = std::thread::scope(|scope| {
        let server = |name, votes, killed_after| {
            let place = &place;
            scope.spawn(move || votes_of_a_server(place, id, name, votes, killed_after))
        };
        let servers = [
            server("steady", 40, None),
            server("second", 32, None),
            server("killed early", 40, Some(5)),
            server("killed late", 40, Some(17)),
        ];
        let by_hand = votes_by_hand(&place, id, "by hand", 4);
        servers.into_iter().map(|server| server.join().unwrap()).chain([by_hand]).collect()
    });

    let exported = place.run(&["memory", "export", "--all"]).ok().stdout;
    let lines: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let signals: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "signal").collect();
    let mut stored: BTreeMap<&str, bool> = BTreeMap::new();
    for signal in &signals {
        assert_eq!(signal["memory_id"], id);
        let helpful = signal["signal"] == "helpful";
        assert!(helpful || signal["signal"] == "not_helpful", "{signal}");
        let comment = signal["comment"].as_str().unwrap();
        assert!(stored.insert(comment, helpful).is_none(), "{comment} counts twice");
    }
    for votes in &voted {
        for comment in &votes.acknowledged {
            assert_eq!(stored.get(comment.as_str()), votes.attempted.get(comment), "{comment} was acknowledged");
        }
        let kept = votes.attempted.keys().filter(|comment| stored.contains_key(comment.as_str())).count();
        assert!(kept == votes.acknowledged.len() || votes.was_killed, "{kept} of {}", votes.acknowledged.len());
    }
    let attempted: BTreeMap<&str, bool> = voted
        .iter()
        .flat_map(|votes| votes.attempted.iter().map(|(comment, helpful)| (comment.as_str(), *helpful)))
        .collect();
    assert!(stored.iter().all(|(comment, helpful)| attempted.get(comment) == Some(helpful)), "nobody said more");

    let helpful = stored.values().filter(|helpful| **helpful).count() as f64;
    let not_helpful = stored.len() as f64 - helpful;
    let expected = odds_of(0.8) + helpful * odds_of(0.8) + not_helpful * odds_of(0.3);
    for _process in 0..2 {
        let confidence = place.run(&["--json", "memory", "get", id]).ok().json()["confidence"].as_f64().unwrap();
        assert!((odds_of(confidence) - expected).abs() < 1e-6, "{confidence} from {helpful} and {not_helpful}");
    }
}
