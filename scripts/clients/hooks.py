#!/usr/bin/env python3
"""The hooks of `reasoning-bank setup claude-code --with-hooks` in sessions of a real Claude Code, whose model is a script.
One line a check, exit 1 if one fails.

    hooks.py BINARY MODULES

MODULES is the node_modules directory with the clients of agents.txt; node is on the PATH. In the first session a lesson
is recorded. In the second one a prompt about it and a command that fails as before bring it into the next request to the
model, and a command that fails otherwise brings nothing. The first command succeeds in the end, and by the third session
the lesson is trusted more. A session that is compacted and resumed in a new process is told its plan and its results. The
plugins for Claude Code and for Codex are valid, both clients install theirs, and its server starts where there is no key.
"""
import json
import subprocess
import sys
import time
from pathlib import Path

from checks import Checks
from messages_api import ScriptedModel, new_messages
from stand_in import CLAUDE, CODEX, claude_environment, native, new_home

SESSION_WITHIN_S = 180

binary, modules = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
claude = native(modules, CLAUDE)
check = Checks("hooks claude-code:")

LESSON = {
    "title": "The loader needs a user in every session",
    "description": "When the loader ends with a KeyError for user.",
    "content": "Give every session a user before it is stored.",
    "error_context": {
        "error_type": "KeyError",
        "failure_pattern": "The key user was read from a session that had none.",
        "corrective_guidance": "Run the migration add_users before the loader.",
    },
}
INSTEAD = "Run the migration add_users before the loader."


def bash(command):
    return {"tool": "Bash", "input": {"command": command, "description": "Run it"}}


def fails_with(key):
    """A command that fails until there is a file of the name of the key."""
    return bash(f"python3 -c \"import os; os.path.exists('{key}') or {{}}['{key}']\"")


with new_home() as (place, home, project):
    # No hook starts a server, which would take what the end of a session left before it is looked for.
    environment = claude_environment(home) | {"REASONING_BANK__HOOKS__SERVER_IDLE_S": "0"}

    def run(*command, **more):
        return subprocess.run(command, cwd=project, env=environment | more, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=SESSION_WITHIN_S)

    def session(prompt, *script, options=(), before=lambda: None, **more):
        with ScriptedModel([*script, {"text": "done"}], before) as model:
            ran = run(claude, "-p", *options, prompt, "--allowedTools",
                      "mcp__reasoning-bank__record_memory,Bash,TaskCreate,TaskUpdate", ANTHROPIC_BASE_URL=model.url,
                      **more)
            return model.requests, ran.stdout + ran.stderr

    setup = run(str(binary), "setup", "claude-code", "--with-hooks", "--yes")
    check("setup writes them", setup.returncode == 0, setup.stderr)
    # The first step lets the server start; Claude Code connects to it beside the first request.
    wait = bash("sleep 2")
    _, said = session("Keep what was learned.", wait, {"tool": "mcp__reasoning-bank__record_memory", "input": LESSON})
    listed = run(str(binary), "--json", "memory", "list")
    kept = json.loads(listed.stdout)["memories"] if listed.returncode == 0 else []
    check("a lesson is recorded in the first session", [m["title"] for m in kept] == [LESSON["title"]], said + listed.stderr)

    begun = time.monotonic()
    script = [wait, fails_with("user"), fails_with("price"), bash("touch user"), fails_with("user")]
    requests, said = session("Run it.", *script)
    took = time.monotonic() - begun
    check(f"the second session has six requests ({took:.1f} s)", len(requests) == 6, (len(requests), said))
    if len(requests) == 6:
        known, other = new_messages(requests, 2), new_messages(requests, 3)
        check("the failure that is known fails", "KeyError: 'user'" in known, known)
        check("its warning is in the very next request to the model", INSTEAD in known, known)
        check("the other failure fails", "KeyError: 'price'" in other, other)
        check("it brings nothing", INSTEAD not in other and "recalled-experience" not in other, other)
        check("the command succeeds in the end", "KeyError" not in new_messages(requests, 5), new_messages(requests, 5))

    spool = home / ".local/share/reasoning-bank/hook-spool"
    left = list(spool.glob("*.json")) if spool.is_dir() else []
    check("the end of a session is left to a server", len(left) >= 1, sorted(home.rglob("*spool*")))
    recalls = json.loads(run(str(binary), "--json", "memory", "recalls").stdout)["recalls"]
    shown = [entry["source"] for entry in recalls if any(memory["shown"] for memory in entry["candidates"])]
    check("what was shown is in the recall log", "hook claude-code PostToolUseFailure" in shown, recalls)

    def of_lesson():
        return json.loads(run(str(binary), "--json", "memory", "get", kept[0]["id"]).stdout)

    def within_half_a_minute(happens):
        until = time.monotonic() + 30
        while not happens() and time.monotonic() < until:
            time.sleep(0.2)

    # A server looks at what hooks left at its start, and then every ten seconds.
    def is_trusted_more():
        return of_lesson()["confidence"] > kept[0]["confidence"]

    # A hook that gets no turn within its tenth of a second leaves nothing, so the failure and the success come again.
    session("Wait.", wait, before=lambda: within_half_a_minute(is_trusted_more))
    for _ in range(3):
        if not is_trusted_more():
            session("Again.", wait, bash("rm user"), fails_with("user"), bash("touch user"), fails_with("user"))
            session("Wait.", wait, before=lambda: within_half_a_minute(is_trusted_more))
    check("the lesson is trusted more after its command succeeded", is_trusted_more(), of_lesson())

    # A session is compacted, cut off and resumed in a new process. No tool of ours is called.
    def titled(title):
        return {"tool": "TaskCreate", "input": {"subject": title, "description": title}}

    # A hook starts a server here, which works off what a session left that ends at once.
    serves = {"REASONING_BANK__HOOKS__SERVER_IDLE_S": "30"}
    kept_id = "5e551041-0000-4000-8000-000000000001"
    fails = bash("python3 -c \"raise ValueError('day 30 of February')\"")
    done = {"tool": "TaskUpdate", "input": {"taskId": "1", "status": "completed"}}
    _, said = session("Fix the date parser of the importer.", wait, titled("Reproduce the wrong day"),
                      titled("Mend the parser"), fails, done, options=("--session-id", kept_id), **serves)

    # A model writes its summary for much longer than a server takes to work off what the hook before it left.
    def task_is_kept():
        return "date parser" in run(str(binary), "working", "list").stdout

    _, compacted = session("/compact", options=("--resume", kept_id), before=lambda: within_half_a_minute(task_is_kept),
                           **serves)
    requests, resumed = session("Go on.", options=("--resume", kept_id), **serves)
    told = json.dumps(requests[0]["messages"]) if requests else ""
    told = told[told.find("A task is open in working memory"):]
    parts = ["Fix the date parser", "step 2: Mend the parser", "- done: 1", "day 30 of February"]
    check("a session that was compacted finds its plan and results in a new process",
          told.startswith("A task") and all(part in told for part in parts), (told, said, compacted, resumed))

    plugins = Path(__file__).resolve().parents[2] / "integrations"
    for part in [plugins, plugins / "claude-code"]:
        valid = run(claude, "plugin", "validate", "--strict", str(part))
        check(f"{part.name} is valid as a plugin or a marketplace", valid.returncode == 0, valid.stdout + valid.stderr)

    # The plugins run the program that is on the PATH.
    programs = place / "bin"
    programs.mkdir()
    (programs / "reasoning-bank").symlink_to(binary)
    search_path = f"{programs}:{environment['PATH']}"
    added = run(claude, "plugin", "marketplace", "add", str(plugins))
    added = added if added.returncode else run(claude, "plugin", "install", "reasoning-bank@reasoning-bank")
    check("Claude Code installs its plugin", added.returncode == 0, added.stdout + added.stderr)
    listed = run(claude, "mcp", "list", PATH=search_path)
    connected = [line for line in listed.stdout.splitlines() if "plugin:" in line and "Connected" in line]
    check("Claude Code starts the server of its plugin", len(connected) == 1, listed.stdout + listed.stderr)

    codex = native(modules, CODEX)
    added = run(codex, "plugin", "marketplace", "add", str(plugins))
    added = added if added.returncode else run(codex, "plugin", "add", "reasoning-bank@reasoning-bank")
    check("Codex installs its plugin", added.returncode == 0, added.stdout + added.stderr)
    listed = run(codex, "mcp", "list", "--json")
    servers = json.loads(listed.stdout) if listed.returncode == 0 else []
    check("Codex has the server of its plugin", [server["name"] for server in servers] == ["reasoning-bank"], listed)
    for server in servers:
        how = server["transport"]
        initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "hooks", "version": "1"}}}
        started = subprocess.run([how["command"], *how["args"]], cwd=project, env=environment | {"PATH": search_path},
                                 input=json.dumps(initialize) + "\n", capture_output=True, text=True,
                                 timeout=SESSION_WITHIN_S)
        check("it starts without a key", '"serverInfo"' in started.stdout, started.stdout + started.stderr)

check.end()
