#!/usr/bin/env python3
"""Measures the time that `activate` and `update` of a memory bank take through an MCP server, whole calls as an agent
makes them.

    measure_banks.py BINARY [--times N]

The files of the bank have 20 or 100 KB together, and 100 KB are more than the 8,000 tokens that `activate` shows, so that
a shorter view is made of them. No model files anything. `from memory` is what `activate` takes while nobody has changed a
file, `after an edit` after a person saved one of them, `from disk` the first one of a process; an update is one sentence.
The wall clock counts.
"""
import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

from mcp_server import McpServer

SIZES_KB = [20, 100]
FILES = 10

arguments = argparse.ArgumentParser()
arguments.add_argument("binary", type=Path)
arguments.add_argument("--times", type=int, default=100)
asked = arguments.parse_args()


def serve(place):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("REASONING_BANK", "XDG_"))}
    # The bank keeps its length.
    own = {"HOME": str(place), "REASONING_BANK__BANKS__OPTIMIZE_ABOVE_TOKENS": "1000000",
           "REASONING_BANK__BANKS__OPTIMIZE_EVERY_DAYS": "0", "REASONING_BANK__MCP__TOOLSETS": "banks"}
    command = [asked.binary.resolve(), "--data-dir", place / "data", "--llm", "none", "mcp"]
    return McpServer(command, place, kept | own, subprocess.DEVNULL)


def write_file(folder, number, size):
    text, part = f"# Notes {number}\n\n", 0
    while len(text) < size:
        text += f"## Part {part}\n\n- Service {part} reads queue {number} and writes index {part * number}.\n\n"
        part += 1
    (folder / f"notes{number}.md").write_text(text)


def took(call):
    begun = time.perf_counter()
    call()
    return (time.perf_counter() - begun) * 1000


def told(times):
    times = sorted(times)
    return f"{times[len(times) // 2]:.1f} / {times[int(len(times) * .95)]:.1f}"


def measure(place, size_kb):
    server = serve(place)
    activate = lambda: server.tool("activate", {"conversation_type": "chat"})
    activate()
    folder = place / "data/banks/global/default"
    for number in range(FILES):
        write_file(folder, number, size_kb * 1000 // FILES)
    activate()
    from_memory = [took(activate) for _ in range(asked.times)]
    after_an_edit = []
    for number in range(asked.times):
        (folder / "references.md").write_text(f"# References\n\nEdit number {number} of a person.\n")
        after_an_edit.append(took(activate))
    updated = [took(lambda: server.tool("update", {"content": f"I prefer variant {n}, since it is the shortest of all."}))
               for n in range(asked.times)]
    server.stop()
    from_disk = []
    for _ in range(max(asked.times // 5, 1)):
        server = serve(place)
        # The search for secrets compiles its patterns once a process.
        from_disk.append(took(lambda: server.tool("activate", {"conversation_type": "chat"})))
        server.stop()
    print(f"{size_kb} KB, p50 / p95 in ms: from memory {told(from_memory)}, after an edit {told(after_an_edit)}, "
          f"from disk {told(from_disk)}, an update {told(updated)}", flush=True)


print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
for size in SIZES_KB:
    with tempfile.TemporaryDirectory() as directory:
        measure(Path(directory), size)
