#!/usr/bin/env python3
"""Prints how many of the changes in tests/data/update_pairs.jsonl a binary finds, through its MCP server.

    scripts/measure_updates.py BINARY SPLIT...

All older statements of the splits are recorded in one empty bank, then all newer ones. A change is found where the newer
statement is linked to its older one, and a look-alike is linked wrongly where it is. What is linked to a statement of
another pair is counted apart. A statement without a title has itself as its title.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PAIRS = Path(__file__).parent.parent / "tests/data/update_pairs.jsonl"


class Bank:
    """An empty bank, and a server of it."""

    def __init__(self, binary, place):
        command = [binary, "--data-dir", f"{place}/data", "--workspace", place, "--llm", "none", "mcp"]
        environment = {"HOME": place, "PATH": os.environ["PATH"]}
        self.server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True
        )
        self.sent = 0
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "measure", "version": "1"}}
        self.request("initialize", client)
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        self.server.stdin.flush()

    def request(self, method, params):
        self.sent += 1
        self.send({"id": self.sent, "method": method, "params": params})
        while (answer := json.loads(self.server.stdout.readline())).get("id") != self.sent:
            pass
        return answer["result"]

    def record(self, title, text):
        lesson = {"title": (title or text)[:120], "description": f"About {title or 'the project'}", "content": text}
        answer = self.request("tools/call", {"name": "record_memory", "arguments": lesson})
        if answer.get("isError"):
            sys.exit(f"{text!r} was not recorded: {answer}")
        return answer["structuredContent"]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    pairs = [pair for pair in map(json.loads, PAIRS.read_text().splitlines()) if pair["split"] in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as place:
        bank = Bank(sys.argv[1], place)
        older = {}
        for pair in pairs:
            key = (pair["title"], pair["older"])
            if key not in older:
                older[key] = bank.record(*key)["id"]
        found = {True: 0, False: 0}
        elsewhere = 0
        for pair in pairs:
            links = set(bank.record(pair["title"], pair["newer"]).get("updates", []))
            own = older[pair["title"], pair["older"]]
            found[pair["kind"] == "change"] += own in links
            elsewhere += len(links - {own})
        bank.server.stdin.close()
        bank.server.wait()
    changes = sum(pair["kind"] == "change" for pair in pairs)
    print(f"{' '.join(sys.argv[2:])}: {found[True]} of {changes} changes found,", end=" ")
    print(f"{found[False]} of {len(pairs) - changes} look-alikes linked, {elsewhere} links to other statements")


if __name__ == "__main__":
    main()
