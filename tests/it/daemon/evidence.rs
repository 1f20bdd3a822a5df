//! Tests of evidence over HTTP: whose evidence counts, for which memories, and what a conversation goes on from.

use serde_json::{Value, json};

use super::{ALL_TOOLS, Daemon, message, place_with_all_tools, token};

#[tokio::test]
async fn what_one_owner_reports_counts_once_over_all_of_his_tokens_and_sessions() {
    let place = place_with_all_tools();
    let tokens = ["laptop", "desktop"].map(|name| token(&place, &[name, "--owner", "ana", "--all-workspaces"]));
    let ben = token(&place, &["ben", "--all-workspaces", "--permissions", "read,write,admin"]);
    let daemon = Daemon::start(&place, &ALL_TOOLS);
    let mine = daemon.session(Some(&tokens[0])).await.on("shop");
    let id = mine.record("retries of the payment webhook").await;
    let ben = daemon.session(Some(&ben)).await.on("shop");
    let confidence = async || ben.call("get_memory", json!({"memory_id": id})).await["confidence"].as_f64().unwrap();
    let report = json!({"memory_ids": [id], "helpful": true});
    mine.call("report_outcome", report.clone()).await;
    let once = confidence().await;
    for token in &tokens {
        daemon.session(Some(token)).await.on("shop").call("report_outcome", report.clone()).await;
    }
    assert_eq!(confidence().await, once, "the same owner, from other sessions and another token");
    ben.call("report_outcome", report).await;
    assert!(confidence().await > once, "somebody else");
}

#[tokio::test]
async fn two_agents_of_one_owner_go_on_from_their_own_work() {
    let place = place_with_all_tools();
    let ana = token(&place, &["ana", "--all-workspaces"]);
    let daemon = Daemon::start(&place, &ALL_TOOLS);
    let [laptop, desktop] = [daemon.session(Some(&ana)).await.on("shop"), daemon.session(Some(&ana)).await.on("shop")];
    let id = laptop.record("retries of the payment webhook").await;
    let report = |task: Option<&str>| json!({"memory_ids": [id], "task": task, "task_succeeded": true});
    let pager = laptop.call("report_outcome", report(Some("fix the pager"))).await;
    let log = desktop.call("report_outcome", report(Some("write the log"))).await;
    assert_eq!(laptop.call("report_outcome", report(None)).await["trace_id"], pager["trace_id"]);
    assert_eq!(desktop.call("report_outcome", report(None)).await["trace_id"], log["trace_id"]);
    assert!(pager["trace_id"].is_string() && pager["trace_id"] != log["trace_id"]);

    let newcomer = daemon.session(Some(&ana)).await.on("shop").call("report_outcome", report(None)).await;
    let stateless = |report: Value| {
        let client = json!({"name": "test", "version": "1"});
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": client,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": "report_outcome", "arguments": report, "_meta": meta});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let request = daemon.post(&call).bearer_auth(&ana).header("x-workspace", "shop");
        let request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/call");
        let request = request.header("mcp-name", "report_outcome").header("mcp-session-id", &laptop.id);
        async { message(request.send().await.unwrap()).await["result"]["structuredContent"].clone() }
    };
    for untold in [newcomer, stateless(report(None)).await] {
        assert_eq!(untold["code"], "invalid_argument", "{untold}");
        assert!(untold["message"].as_str().unwrap().contains("task: say what you worked on"), "{untold}");
    }
    assert_eq!(stateless(report(Some("Fix the pager"))).await["trace_id"], pager["trace_id"], "one voice a task");
}

#[tokio::test]
async fn the_token_decides_whether_a_report_counts_for_what_a_team_reads() {
    let place = place_with_all_tools();
    // A setting that users make for the clients of their machine says nothing of tokens.
    place.write("project/all.toml", "mcp.toolsets = [\"all\"]\nworkspace.share = true\n");
    let with = |name: &str, permissions: &str| {
        let rights = ["--team", "web", "--org", "acme", "--key", "shop", "--permissions", permissions];
        token(&place, &[&[name], rights.as_slice()].concat())
    };
    let [member, lead, boss] =
        [with("member", "read,write"), with("lead", "read,write,admin"), with("boss", "read,write,admin:all")];
    let daemon = Daemon::start(&place, &ALL_TOOLS);
    let [member, lead, boss] =
        [daemon.session(Some(&member)).await, daemon.session(Some(&lead)).await, daemon.session(Some(&boss)).await];
    let own = member.record("retries of the payment webhook").await;
    let lesson =
        |scope: &str| json!({"title": scope, "description": "d", "content": format!("c of {scope}"), "scope": scope});
    let team = lead.call("record_memory", lesson("team")).await["id"].clone();
    let org = boss.call("record_memory", lesson("org")).await["id"].clone();
    let about = [json!(own), team.clone(), org.clone()];
    let report = json!({"memory_ids": about, "task": "fix the pager", "helpful": true, "task_succeeded": true});
    for (session, left_out) in [(&member, vec![&team, &org]), (&lead, vec![&org]), (&boss, vec![&team])] {
        let told = session.call("report_outcome", report.clone()).await;
        let not_shared = told["not_shared_with"].as_array().unwrap_or_else(|| panic!("{told}"));
        assert_eq!(not_shared.iter().collect::<Vec<_>>(), left_out, "{told}");
        assert_eq!(told["updated"].as_array().unwrap().len(), 3 - left_out.len());
        assert!(told["trace_id"].is_string(), "the work is told in any case: {told}");
    }
    let vote = member.call("report_outcome", json!({"memory_ids": [team], "helpful": true})).await;
    assert_eq!(vote["code"], "scope_denied", "{vote}");
}

#[tokio::test]
async fn what_a_session_taught_is_its_owners_whatever_the_session_is_called() {
    let place = place_with_all_tools();
    let ana = token(&place, &["ana", "--key", "shop", "--permissions", "read,write,admin"]);
    let daemon = Daemon::start(&place, &ALL_TOOLS);
    let session = daemon.session(Some(&ana)).await;
    let answer = "Name the pool in the settings first, then start the service again. It reads the name once, at its start, \
                  so a name that is given later is ignored until the next start. ```sh\nshop restart\n```";
    let transcript = json!([{"role": "user", "content": "How do I name the connection pool of the shop?"},
        {"role": "assistant", "content": answer}]);
    let transcript: String = transcript.as_array().unwrap().iter().map(|message| format!("{message}\n")).collect();
    let handed_in = json!({"session_id": "ben", "transcript": transcript, "outcome": "success"});
    let queued = session.call("distill_session", handed_in).await;
    let job = json!({"job_id": queued["job_id"]});
    let began = std::time::Instant::now();
    let done = loop {
        let job = session.call("get_job", job.clone()).await;
        if job["state"] == "done" || job["state"] == "failed" || began.elapsed() > super::TIMEOUT {
            break job;
        }
    };
    let id = done["result"]["learned"][0]["id"].as_str().unwrap_or_else(|| panic!("{done}"));
    let shown = session.call("get_memory", json!({"memory_id": id})).await;
    assert_eq!(shown["source_session"], "ana", "{shown}");
}
