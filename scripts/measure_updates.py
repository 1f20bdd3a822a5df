#!/usr/bin/env python3
"""Prints how many of the changes in tests/data/update_pairs.jsonl a binary finds, through its MCP server.

    scripts/measure_updates.py BINARY SPLIT...
    scripts/measure_updates.py BINARY --unrelated

All older statements of the splits are recorded in one empty bank, then all newer ones. A change is found where the newer
statement is linked to its older one, and a look-alike is linked wrongly where it is. What is linked to a statement of
another pair is counted apart. A statement without a title has itself as its title. A change that is not found may still be
told: its older statement is among the similar ones that the answer names, so that the client can say that it is outdated.

--unrelated records at most 250 texts of each set below tests/data/retrieval, which have nothing to do with each other, with
one bank for each set, and counts those that are linked to another one, and how many similar ones an answer names.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from mcp_server import McpServer

DATA = Path(__file__).parent.parent / "tests/data"
UNRELATED_OF_EACH = 250


class Bank(McpServer):
    """An empty bank, and a server of it."""

    def __init__(self, binary, place):
        command = [binary, "--data-dir", f"{place}/data", "--workspace", place, "--llm", "none", "mcp"]
        super().__init__(command, None, {"HOME": place, "PATH": os.environ["PATH"]}, subprocess.DEVNULL)

    def record(self, title, text):
        lesson = {"title": (title or text)[:120], "description": f"About {title or 'the project'}", "content": text}
        return self.tool("record_memory", lesson)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def unrelated(binary):
    for corpus in sorted(DATA.glob("retrieval/*/corpus.jsonl")):
        texts = lines(corpus)[:UNRELATED_OF_EACH]
        with tempfile.TemporaryDirectory() as place:
            bank = Bank(binary, place)
            answers = [bank.record(text.get("title"), text["text"]) for text in texts]
            bank.stop()
        linked = sum(bool(answer.get("updates")) for answer in answers)
        similar = sum(len(answer.get("similar", [])) for answer in answers) / len(answers)
        print(f"{corpus.parent.name}: {linked} of {len(texts)} texts linked to another, {similar:.1f} similar ones named")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[2] == "--unrelated":
        return unrelated(sys.argv[1])
    pairs = [pair for pair in lines(DATA / "update_pairs.jsonl") if pair["split"] in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as place:
        bank = Bank(sys.argv[1], place)
        older = {}
        for pair in pairs:
            key = (pair["title"], pair["older"])
            if key not in older:
                older[key] = bank.record(*key)["id"]
        found = {True: 0, False: 0}
        told = 0
        elsewhere = 0
        for pair in pairs:
            answer = bank.record(pair["title"], pair["newer"])
            links = set(answer.get("updates", []))
            own = older[pair["title"], pair["older"]]
            found[pair["kind"] == "change"] += own in links
            told += pair["kind"] == "change" and own in {similar["id"] for similar in answer.get("similar", [])}
            elsewhere += len(links - {own})
        bank.stop()
    changes = sum(pair["kind"] == "change" for pair in pairs)
    print(f"{' '.join(sys.argv[2:])}: {found[True]} of {changes} changes found, {told} told,", end=" ")
    print(f"{found[False]} of {len(pairs) - changes} look-alikes linked, {elsewhere} links to other statements")


if __name__ == "__main__":
    main()
