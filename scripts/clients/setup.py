#!/usr/bin/env python3
"""`reasoning-bank setup` with the real clients. One line a check, exit 1 if one fails.

    setup.py BINARY MODULES

MODULES is the node_modules directory with the clients of agents.txt; node is on the PATH. Each client is set up in an
empty home and in one with a configuration as people write them, lists the server, and is taken back. None of them is
given a key, and none asks a model.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import Checks
from stand_in import CLAUDE, native

LIST_WITHIN_S = 120

binary, modules = Path(sys.argv[1]), Path(sys.argv[2])
check = Checks("setup")


# The program, what its list says of a server that is there, its file, and that file as a person writes it. Codex lists
# what is configured and starts no server for it.
CLIENTS = {
    "claude-code": (
        native(modules, CLAUDE),
        r"reasoning-bank: .* Connected",
        ".claude.json",
        '{\n  "numStartups": 3,\n  "mcpServers": {\n    "other": { "command": "/nonexistent" }\n  }\n}',
    ),
    "codex": (
        str(modules / ".bin/codex"),
        r"reasoning-bank .* enabled",
        ".codex/config.toml",
        'model = "m"   # mine\r\n\r\n[mcp_servers.other]\r\ncommand = "/nonexistent"\r\nenabled = false\r\n',
    ),
    "gemini-cli": (
        str(modules / ".bin/gemini"),
        r"reasoning-bank: .* Connected",
        ".gemini/settings.json",
        '{\n\t// mine\n\t"ui": { "theme": "Dracula" /* why */ },\n\t"mcpServers": { "other": { "command": "/nonexistent" } }\n}\n',
    ),
    "opencode": (
        native(modules, "opencode-linux-*/bin/opencode"),
        r"reasoning-bank\s+connected",
        ".config/opencode/opencode.jsonc",
        '{\n  "$schema": "https://opencode.ai/config.json",\n  // mine\n  "mcp": {\n    "other": '
        '{ "type": "local", "command": ["/nonexistent"], "enabled": false },\n  },\n}\n',
    ),
}


class Home:
    def __init__(self, place):
        self.home, self.project = place / "home", place / "project"
        self.home.mkdir(parents=True)
        self.project.mkdir()
        subprocess.run(["git", "init", "--quiet", self.project], check=True)
        self.environment = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "NO_COLOR": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def run(self, *command):
        return subprocess.run(
            command, cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=LIST_WITHIN_S,
        )

    def setup(self, *arguments):
        ran = self.run(binary, "--json", "setup", *arguments, "--yes")
        return json.loads(ran.stdout) if ran.returncode == 0 else {"error": ran.stderr}

    def files(self):
        return {path: path.read_bytes() for path in self.home.rglob("*") if path.is_file()}


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


for client, (program, listed, name, written) in CLIENTS.items():
    with tempfile.TemporaryDirectory() as place:
        version = plain(Home(Path(place)).run(program, "--version").stdout).strip().splitlines()[-1:]
    for kind in ("empty", "lived in"):
        with tempfile.TemporaryDirectory() as place:
            home = Home(Path(place))
            file = home.home / name
            if kind == "lived in":
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(written.encode())
            what = f"{client} {' '.join(version)}, {kind} home"
            before = home.files()

            def bank():
                """The files that a started server keeps: the bank itself is no configuration."""
                return {path for path in home.files() if ".local/share/reasoning-bank/" in str(path)}

            report = home.setup(client)
            check(f"{what}: written, and the server lists its tools", report.get("tools", 0) > 0, report)
            taken = home.setup(client, "--uninstall")
            after = home.files()
            left = {path: after[path] for path in after if path not in bank()}
            check(f"{what}: taken back to the byte", left == before, (taken, set(left) ^ set(before)))

            home.setup(client)
            shown = home.run(program, "mcp", "list")
            said = plain(shown.stdout + shown.stderr)
            check(f"{what}: its own list shows the server", re.search(listed, said) is not None, said)
            home.setup(client, "--uninstall")
            kept = file.read_text() if file.exists() else ""
            fine = "reasoning-bank" not in kept and (kind == "empty" or '"/nonexistent"' in kept)
            check(f"{what}: taken back after the client ran", fine, kept)

check.end()
