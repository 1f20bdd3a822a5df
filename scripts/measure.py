#!/usr/bin/env python3
"""Prints numbers of docs/PERFORMANCE.md for a built binary: start-up, memory, writes of several processes.

    scripts/measure.py [BINARY]        default: the release binary of `make measure`

Measured: from the start of the process to the answer of tools/list over stdio (median of 20 runs, with an empty data
directory and with one that holds memories); resident memory with the embedding model loaded and 1,000 memories; the
slowest acknowledged write of eight processes that write to one directory at once. Not measured: a model over the
network, retrieval quality.
"""

import os
import random
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from mcp_server import McpServer

WORDS = """retry cache lock queue parse index merge branch commit test mock timeout stream buffer thread socket header
token query table column schema patch build deploy config secret error panic trace metric signal batch shard page cursor
node edge graph path file folder link path route proxy server client request answer field value bound limit range order
sort search filter group count sum mean first last before after between under above while until because unless should must
never always often small large empty single double broken whole early late fast slow cheap safe strict loose""".split()


class Server(McpServer):
    """One `mcp --llm none` process, and the time at which it was started."""

    def __init__(self, binary, data, workspace, home):
        environment = {"PATH": os.environ["PATH"], "HOME": home, "REASONING_BANK_DATA": data}
        self.started = time.perf_counter()
        super().__init__([binary, "--llm", "none", "--workspace", workspace, "-q", "mcp"], home, environment)

    def record(self, number):
        recorded = self.tool(
            "record_memory",
            {
                "title": f"Lesson {number} of this measurement",
                "description": "When the number of the lesson is asked for.",
                "content": f"Number {number}: " + " ".join(random.Random(number).choices(WORDS, k=60)),
            },
        )
        assert recorded["status"] == "created", recorded
        return recorded

    def resident_mb(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024


def start_up(binary, data, workspace, home):
    server = Server(binary, data, workspace, home)
    server.call("tools/list", {})
    elapsed = time.perf_counter() - server.started
    server.stop()
    return elapsed * 1000


def measure_start_up(binary, top):
    empty = []
    for run in range(20):
        empty.append(start_up(binary, f"{top}/empty-{run}", f"{top}/project", f"{top}/home"))
    server = Server(binary, f"{top}/warm", f"{top}/project", f"{top}/home")
    for number in range(10):
        server.record(number)
    server.stop()
    warm = [start_up(binary, f"{top}/warm", f"{top}/project", f"{top}/home") for _ in range(20)]
    print(f"start to tools/list, empty directory:  {statistics.median(empty):.0f} ms median, {max(empty):.0f} ms worst of 20")
    print(f"start to tools/list, with 10 memories: {statistics.median(warm):.0f} ms median, {max(warm):.0f} ms worst of 20")


def measure_memory(binary, top):
    server = Server(binary, f"{top}/thousand", f"{top}/project", f"{top}/home")
    writes = []
    for number in range(1000):
        begun = time.perf_counter()
        server.record(number)
        writes.append((time.perf_counter() - begun) * 1000)
    reads = []
    for number in range(100):
        begun = time.perf_counter()
        found = server.tool("retrieve_memories", {"query": f"lesson number {number} word{number}", "min_relevance": 0})
        reads.append((time.perf_counter() - begun) * 1000)
        assert found["memories"] and found["mode"] == "hybrid", found
    print(f"1,000 writes one after another: {statistics.median(writes):.0f} ms median, {max(writes):.0f} ms worst")
    print(f"100 retrievals among them:      {statistics.median(reads):.0f} ms median, {max(reads):.0f} ms worst")
    print(f"resident memory, model loaded, 1,000 memories: {server.resident_mb():.0f} MB")
    server.stop()
    server = Server(binary, f"{top}/thousand", f"{top}/project", f"{top}/home")
    while server.tool("retrieve_memories", {"query": "lesson"})["mode"] != "hybrid":
        time.sleep(0.1)
    print(f"the same after a new start:                    {server.resident_mb():.0f} MB")
    server.stop()


def measure_writers(binary, top, processes=8, writes=25):
    data, slowest, ids, lock = f"{top}/shared", [], [], threading.Lock()
    servers = [Server(binary, data, f"{top}/project-{n % 2}", f"{top}/home") for n in range(processes)]
    for server in servers:
        server.tool("retrieve_memories", {"query": "warm"})
    for n, server in enumerate(servers):
        server.record(100_000 + n)

    def write(n):
        for i in range(writes):
            begun = time.perf_counter()
            recorded = servers[n].record(n * 1000 + i)
            elapsed = (time.perf_counter() - begun) * 1000
            with lock:
                slowest.append(elapsed)
                ids.append(recorded["id"])

    threads = [threading.Thread(target=write, args=(n,)) for n in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for server in servers:
        server.stop()
    assert len(set(ids)) == processes * writes, "a write was lost or doubled"
    print(
        f"{processes} processes, {len(ids)} writes at once: {statistics.median(slowest):.0f} ms median, "
        f"{max(slowest):.0f} ms worst"
    )


def main():
    binary = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/reasoning-bank")
    with tempfile.TemporaryDirectory() as top:
        for name in ["home", "project", "project-0", "project-1"]:
            os.mkdir(f"{top}/{name}")
        print(f"{os.cpu_count()} cores, {binary}")
        measure_start_up(binary, top)
        measure_memory(binary, top)
        measure_writers(binary, top)


if __name__ == "__main__":
    main()
