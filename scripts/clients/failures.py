#!/usr/bin/env python3
"""Runs fifty failures that are known and fifty others in one session of a real Claude Code whose hooks `setup` wrote. Its
model is scripted.

    failures.py BINARY MODULES

MODULES is the node_modules directory with the clients of agents.txt; node is on the PATH. The failures are those of
`tests/data/hooks/failures.jsonl`. Nine of ten that are known bring their warning into the very next request to the
model, and at most one in twenty of the others brings anything.
"""
import json
import subprocess
import sys
from pathlib import Path

from checks import Checks
from messages_api import ScriptedModel, new_messages
from stand_in import CLAUDE, claude_environment, native, new_home

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from mcp_server import McpServer  # noqa: E402

SESSION_WITHIN_S = 600

binary, modules = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
check = Checks("failures claude-code:")
failures = [json.loads(line) for line in (ROOT / "tests/data/hooks/failures.jsonl").read_text().splitlines()]


def fails(number, kind):
    return {"tool": "Bash", "input": {"command": f"cat {kind}-{number} >&2; exit 1", "description": "Run it"}}


with new_home() as (_, home, project):
    environment = claude_environment(home)
    setup = subprocess.run([binary, "setup", "claude-code", "--with-hooks", "--yes"], cwd=project, env=environment,
                           capture_output=True, text=True)
    check("setup writes the hooks", setup.returncode == 0, setup.stderr)

    server = McpServer([binary, "--llm", "none", "mcp"], project, environment)
    for number, failure in enumerate(failures):
        warning = failure["warning"]
        server.tool("record_memory", {"title": warning["failure_pattern"][:120],
                                      "description": warning["failure_pattern"],
                                      "content": warning["corrective_guidance"], "error_context": warning})
        for kind in ("met", "other"):
            # The client puts the code of the exit before what a command printed.
            (project / f"{kind}-{number}").write_text(failure[kind].removeprefix("Exit code 1\n"))
    server.stop()

    # The first step lets the server of the session start.
    wait = {"tool": "Bash", "input": {"command": "sleep 3", "description": "Wait"}}
    steps = [fails(number, kind) for number in range(len(failures)) for kind in ("met", "other")]
    with ScriptedModel([wait, *steps, {"text": "done"}]) as model:
        ran = subprocess.run([native(modules, CLAUDE), "-p", "Run them.", "--allowedTools", "Bash"], cwd=project,
                             env=environment | {"ANTHROPIC_BASE_URL": model.url}, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=SESSION_WITHIN_S)
    asked = len(model.requests)
    check("every failure has a request after it", asked == len(steps) + 2, (asked, ran.stdout + ran.stderr))
    if asked == len(steps) + 2:
        told = [new_messages(model.requests, 2 + step) for step in range(len(steps))]
        guidance = [json.dumps(failure["warning"]["corrective_guidance"])[1:-1] for failure in failures]
        missed = [text for text, known in zip(guidance, told[::2]) if text not in known]
        warned = [text for text in told[1::2] if "recalled-experience" in text]
        right = len(failures) - len(missed)
        check(f"{right} of {len(failures)} known failures bring their warning", right >= .9 * len(failures), missed)
        check(f"{len(warned)} of {len(failures)} others bring one", len(warned) <= .05 * len(failures), warned)

check.end()
