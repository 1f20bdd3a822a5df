#!/usr/bin/env python3
"""The hooks of `reasoning-bank setup gemini-cli --with-hooks` in a session of a real Gemini CLI, whose model is a script.
One line a check, exit 1 if one fails.

    gemini_hooks.py BINARY MODULES

MODULES is the node_modules directory with the clients of agents.txt; node is on the PATH. A command that fails in a way
that a memory warns of brings the warning to the model with what the command printed, and one that fails otherwise brings
nothing. From a session that is over a server learns.
"""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from checks import Checks
from stand_in import StandIn, new_home, served

SESSION_WITHIN_S = 180
LEARNED_WITHIN_S = 60
INSTEAD = "Run the migration add_users before the loader."
QUESTION = "Why does the build of the shop end with a linker error?"
ANSWER = ("The build broke because the linker was missing. Install lld first, because the configuration names it as the "
          "linker: run `apt install lld`, then build again.")
COMMANDS = ["python3 -c \"{}['user']\"", "python3 -c \"{}['price']\""]

binary, modules = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
check = Checks("hooks gemini-cli:")


class Model(StandIn):
    """Asks for each command in turn, and ends. `told` is what the model was told of each, `says` how it ends."""
    told = []
    says = "done"

    def do_POST(self):
        asked = self.asked()
        streams = "streamGenerateContent" in self.path
        parts = asked.get("contents", [{}])[-1].get("parts", [])
        self.told.extend(json.dumps(part) for part in parts if streams and "functionResponse" in part)
        if streams and asked.get("tools") and len(self.told) < len(COMMANDS):
            arguments = {"command": COMMANDS[len(self.told)], "description": "Run it"}
            part = {"functionCall": {"name": "run_shell_command", "args": arguments}}
        else:
            part = {"text": self.says if streams else "{}"}
        content = {"role": "model", "parts": [part]}
        answer = json.dumps({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
                             "usageMetadata": {"totalTokenCount": 2}}).encode()
        body = b"data: " + answer + b"\r\n\r\n" if streams else answer
        self.answer(body, "text/event-stream" if streams else "application/json")


with served(Model) as model_url, new_home() as (_, home, project):
    (home / ".gemini").mkdir()
    # The user's own settings stay beside what setup writes.
    own = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    (home / ".gemini/settings.json").write_text(json.dumps(own))
    environment = {
        "HOME": str(home), "PATH": os.environ["PATH"], "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GOOGLE_GEMINI_BASE_URL": model_url,
    }

    def run(*command, said=None):
        return subprocess.run(command, cwd=project, env=environment, input=said, capture_output=True, text=True,
                              timeout=SESSION_WITHIN_S)

    setup = run(str(binary), "setup", "gemini-cli", "--with-hooks", "--yes")
    check("setup writes them", setup.returncode == 0, setup.stderr)
    warning = {"title": "The loader needs a user", "description": "When the loader ends with a KeyError for user.",
               "content": "Give every session a user before it is stored.",
               "error_context": {"error_type": "KeyError", "corrective_guidance": INSTEAD,
                                 "failure_pattern": "The key user was read from a session that had none."}}
    recorded = run(str(binary), "memory", "record", "--file", "-", said=json.dumps(warning))
    check("a warning is recorded", recorded.returncode == 0, recorded.stderr)
    # The hooks of the first session start a server that answers those that follow in time.
    ran = run(str(modules / ".bin/gemini"), "--yolo", "--skip-trust", "-p", "Run it.")
    Model.told.clear()
    ran = run(str(modules / ".bin/gemini"), "--yolo", "--skip-trust", "-p", "Run it.")
    check("two commands were run", len(Model.told) == 2, ran.stdout + ran.stderr)
    known, other = [*Model.told, "", ""][:2]
    check("the failure that is known brings its warning", "KeyError: 'user'" in known and INSTEAD in known, known)
    check("another failure brings nothing", "KeyError: 'price'" in other and "hook_context" not in other, other)

    Model.says = ANSWER
    ran = run(str(modules / ".bin/gemini"), "--yolo", "--skip-trust", "-p", QUESTION)
    until, listed = time.monotonic() + LEARNED_WITHIN_S, ""
    while "lld" not in listed and time.monotonic() < until:
        listed = run(str(binary), "--json", "memory", "list").stdout
        time.sleep(1)
    check("a session that is over is learned from", "lld" in listed, ran.stderr + listed)

check.end()
