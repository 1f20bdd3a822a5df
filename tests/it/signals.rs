//! Evidence from several processes adds up: each vote that was acknowledged counts once, whoever is killed meanwhile. A
//! session has one vote on a memory, so each server votes on one memory after the other; votes by hand count each.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::{Place, Ran};

/// Calls that one process has in flight.
const AT_ONCE: usize = 4;

/// The votes of one process.
struct Votes {
    /// The votes that were tried, by their comment, which is unlike any other.
    attempted: BTreeMap<String, bool>,
    acknowledged: Vec<String>,
    was_killed: bool,
}

fn is_helpful(n: usize) -> bool {
    n.is_multiple_of(3)
}

/// Records memories that share no words, and tells their ids.
fn recorded(place: &Place, count: usize) -> Vec<String> {
    let mut server = McpProcess::initialized(place, &["--llm", "none"]);
    let record = |n: usize| {
        let words =
            |from: usize, to: usize| (from..to).map(|k| format!("word{}", n * 20 + k)).collect::<Vec<_>>().join(" ");
        let lesson = json!({"title": words(0, 3), "description": words(3, 6), "content": words(6, 20)});
        let recorded = server.call("record_memory", lesson);
        recorded["id"].as_str().unwrap().to_owned()
    };
    (0..count).map(record).collect()
}

/// Votes through a server on one memory after the other: on all of them, or until it is killed after the given number
/// of answers, with others in flight.
fn votes_of_a_server(place: &Place, ids: &[String], name: &str, killed_after: Option<usize>) -> Votes {
    let mut server = McpProcess::initialized(place, &["--llm", "none"]);
    let mut done = Votes { attempted: BTreeMap::new(), acknowledged: Vec::new(), was_killed: killed_after.is_some() };
    let send = |server: &mut McpProcess, done: &mut Votes, n: usize| {
        let comment = format!("{name} {n}");
        done.attempted.insert(comment.clone(), is_helpful(n));
        let arguments = json!({"memory_ids": [ids[n]], "helpful": is_helpful(n), "comment": comment});
        let params = json!({"name": "report_outcome", "arguments": arguments});
        server.send(&json!({"id": n, "method": "tools/call", "params": params}));
    };
    (0..AT_ONCE).for_each(|n| send(&mut server, &mut done, n));
    for answered in 1..=killed_after.unwrap_or(ids.len()) {
        let answer = server.read();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        done.acknowledged.push(format!("{name} {}", answer["id"]));
        let next = answered + AT_ONCE - 1;
        if next < ids.len() {
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
    let ids = recorded(&place, 40);
    let voted: Vec<Votes> = std::thread::scope(|scope| {
        let server = |name, votes: usize, killed_after| {
            let (place, ids) = (&place, &ids[..votes]);
            scope.spawn(move || votes_of_a_server(place, ids, name, killed_after))
        };
        let servers = [
            server("steady", 40, None),
            server("second", 32, None),
            server("killed early", 40, Some(5)),
            server("killed late", 40, Some(17)),
        ];
        let by_hand = votes_by_hand(&place, &ids[0], "by hand", 4);
        servers.into_iter().map(|server| server.join().unwrap()).chain([by_hand]).collect()
    });

    let exported = place.run(&["memory", "export", "--all"]).ok().stdout;
    let lines: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let signals: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "signal").collect();
    let mut stored: BTreeMap<&str, bool> = BTreeMap::new();
    let mut expected: BTreeMap<&str, f64> = ids.iter().map(|id| (id.as_str(), odds_of(0.8))).collect();
    for signal in &signals {
        let helpful = signal["signal"] == "helpful";
        assert!(helpful || signal["signal"] == "not_helpful", "{signal}");
        let comment = signal["comment"].as_str().unwrap();
        assert!(stored.insert(comment, helpful).is_none(), "{comment} counts twice");
        *expected.get_mut(signal["memory_id"].as_str().unwrap()).unwrap() += odds_of(if helpful { 0.8 } else { 0.3 });
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

    let listed = place.run(&["--json", "memory", "list", "--limit", "100"]).ok().json();
    let listed = listed["memories"].as_array().unwrap();
    assert_eq!(listed.len(), ids.len());
    for memory in listed.iter().chain([&place.run(&["--json", "memory", "get", &ids[0]]).ok().json()]) {
        let (confidence, id) = (memory["confidence"].as_f64().unwrap(), memory["id"].as_str().unwrap());
        assert!((odds_of(confidence) - expected[id]).abs() < 1e-6, "{confidence} of {id}, expected {}", expected[id]);
    }
}
