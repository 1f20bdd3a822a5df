#!/usr/bin/env python3
"""The team daemon and the real clients over HTTP with a token, set up by their own commands as docs/DAEMON.md tells. One
line a check, exit 1 if one fails.

    agents_http.py BINARY MODULES

MODULES is the node_modules directory with the clients of agents.txt; node is on the PATH. Claude Code and Gemini CLI list
the server as connected. A session of Claude Code records a lesson and finds it again, and a session of Codex is offered
the tools; the models of both are scripts.
"""
import json
import subprocess
import sys
from pathlib import Path

from checks import Checks
from messages_api import ScriptedModel
from stand_in import CLAUDE, CODEX, StandIn, claude_environment, native, new_home, served

WITHIN_S = 180
KEY = "git:example.org/team/shop"
BEARER = "Bearer ${REASONING_BANK_TOKEN}"

binary, modules = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
claude, codex = native(modules, CLAUDE), native(modules, CODEX)
gemini = str(modules / ".bin/gemini")
check = Checks("http")

LESSON = {
    "title": "The loader needs a user in every session",
    "description": "When the loader ends with a KeyError for user.",
    "content": "Give every session a user before it is stored.",
}


class Responses(StandIn):
    """A stand-in for the Responses API, which says one word. `requests` has the bodies of the requests."""

    requests = []

    def do_GET(self):
        self.answer(b'{"models": [], "data": []}')

    def do_POST(self):
        Responses.requests.append(self.asked())
        said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        events = [{"type": "response.created", "response": {"id": "r"}},
                  {"type": "response.output_item.done", "item": said},
                  {"type": "response.completed", "response": {"id": "r", "usage": usage}}]
        self.stream((event["type"], event) for event in events)


with new_home() as (place, home, project):
    bank = [str(binary), "--data-dir", str(place / "data"), "--llm", "none"]
    environment = claude_environment(home) | {
        "NO_COLOR": "1", "OPENAI_API_KEY": "none", "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }

    def run(*command, **more):
        return subprocess.run(command, cwd=project, env=environment | more, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=WITHIN_S)

    made = run(*bank, "--json", "token", "create", "client", "--key", KEY)
    token = json.loads(made.stdout)["token"]
    # Tokens are needed on the own machine as well, once there is one.
    daemon = subprocess.Popen([*bank, "serve", "--listen", "127.0.0.1:0"], cwd=project, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = next(line for line in daemon.stdout if " listens on http" in line).split(" listens on ")[1].strip()
        environment["REASONING_BANK_TOKEN"] = token

        run(claude, "mcp", "add", "--transport", "http", "reasoning-bank", url,
            "--header", f"Authorization: {BEARER}", "--header", f"X-Workspace: {KEY}")
        listed = run(claude, "mcp", "list")
        check("claude-code lists the server as connected", "Connected" in listed.stdout, listed.stdout + listed.stderr)
        refused = run(claude, "mcp", "list", REASONING_BANK_TOKEN="rb_none")
        check("claude-code is let in by its token alone", "Connected" not in refused.stdout, refused.stdout)
        tool = lambda name, arguments: {"tool": f"mcp__reasoning-bank__{name}", "input": arguments}
        # The first step lets the client connect, which it does beside the first request.
        script = [{"tool": "Bash", "input": {"command": "sleep 3", "description": "Wait"}}, tool("record_memory", LESSON),
                  tool("retrieve_memories", {"query": "KeyError user in the loader"}), {"text": "done"}]
        with ScriptedModel(script) as model:
            ran = run(claude, "-p", "Keep what was learned.", "--allowedTools", "mcp__reasoning-bank,Bash",
                      ANTHROPIC_BASE_URL=model.url)
        said = [json.dumps(request["messages"][-1]) for request in model.requests]
        check("claude-code records a lesson in a session", len(said) == 4 and "created" in said[2], (ran, said))
        check("claude-code finds it in the session", len(said) == 4 and LESSON["content"] in said[3], said)

        run(gemini, "mcp", "add", "--transport", "http", "--scope", "user", "reasoning-bank", url,
            "--header", f"Authorization: Bearer {token}", "--header", f"X-Workspace: {KEY}")
        listed = run(gemini, "mcp", "list")
        check("gemini-cli lists the server as connected", "Connected" in listed.stdout + listed.stderr, listed)

        run(codex, "mcp", "add", "reasoning-bank", "--url", url, "--bearer-token-env-var", "REASONING_BANK_TOKEN")
        with served(Responses) as model_url:
            provider = {"name": "script", "base_url": f"{model_url}/v1", "wire_api": "responses"}
            options = [f'model_providers.script.{name}="{value}"' for name, value in provider.items()]
            options += ['model_provider="script"', 'model="gpt-5"']
            options = [part for option in options for part in ("-c", option)]
            ran = run(codex, "exec", "--skip-git-repo-check", *options, "Say one word.")
        tools = [json.dumps(request.get("tools")) for request in Responses.requests]
        check("codex offers the tools of the server to its model", any("record_memory" in told for told in tools),
              (ran.stdout, ran.stderr, tools))
    finally:
        daemon.terminate()
        check("the daemon ends well", daemon.wait(timeout=30) == 0)

check.end()
