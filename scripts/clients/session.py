#!/usr/bin/env python3
"""The MCP Python SDK, as any client uses it, against the real server. One line a check, exit 1 if one fails.

    session.py BINARY REVISION TRANSPORT

REVISION is 2025-11-25 (handshake, mode "legacy" of the SDK) or 2026-07-28 (stateless, that version pinned): `mcp` 2.x
speaks both. TRANSPORT is stdio or http, which means a daemon, a token and the key of a workspace. Structured answers
are held against their schemas by the SDK itself.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from checks import Checks

CORE = [
    "solve_coding_task",
    "retrieve_memories",
    "record_memory",
    "report_outcome",
    "get_memory_genealogy",
    "get_statistics",
]
LESSON = {
    "title": "Close the file before renaming it",
    "description": "When a rename fails with a sharing violation.",
    "content": "Drop every handle to the file, then rename it.",
}
WORKSPACE = "git:example.org/team/shop"
# Statistics are of the whole bank, so of all teams.
PERMISSIONS = "read,write,solve,admin:all"
LISTENS = "ReasoningBank listens on "
ANSWER_WITHIN_S = 60.0
EXIT_WITHIN_S = 2.0

binary, revision, transport = sys.argv[1:]
check = Checks(f"python {transport} {revision}:")


@asynccontextmanager
async def over_stdio(place, arguments, environment, stderr):
    """The way to a process of the client's own, and its exit status: it ends by itself once its input is closed."""
    status = place / "status"
    status.unlink(missing_ok=True)
    parameters = StdioServerParameters(
        # The SDK keeps the exit status to itself, and ends a process that stays by a signal, this shell with it.
        command="/bin/sh",
        args=["-c", '"$@"; echo $? >"$STATUS"', "sh", *arguments, "mcp"],
        cwd=str(place / "project"),
        env=environment | {"STATUS": str(status)},
    )
    yield (
        stdio_client(parameters, errlog=stderr),
        lambda: int(status.read_text()) if status.exists() else "none: it had to be killed",
    )


@asynccontextmanager
async def over_http(place, arguments, environment, stderr):
    """The way to a daemon, with a token of the client's own, and a function that ends it and returns its status."""
    options = {"cwd": place / "project", "env": environment, "stderr": stderr, "text": True}
    create = ["--json", "token", "create", str(time.time_ns()), "--all-workspaces", "--permissions", PERMISSIONS]
    made = subprocess.run([*arguments, *create], check=True, stdout=subprocess.PIPE, **options)
    headers = {"Authorization": f"Bearer {json.loads(made.stdout)['token']}", "X-Workspace": WORKSPACE}
    daemon = subprocess.Popen([*arguments, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, **options)

    def end():
        daemon.terminate()
        return daemon.wait(ANSWER_WITHIN_S)

    try:
        url = daemon.stdout.readline().strip().removeprefix(LISTENS)
        async with httpx2.AsyncClient(headers=headers, timeout=ANSWER_WITHIN_S, trust_env=False) as http:
            yield streamable_http_client(url, http_client=http), end
    finally:
        daemon.kill()
        daemon.wait()


@asynccontextmanager
async def server(place, latency_ms):
    """A client of a new process, which has to end with 0, in time."""
    (place / "config.toml").write_text(f"[llm.simulated]\nlatency_ms = {latency_ms}\n")
    log = place / "log"
    log.unlink(missing_ok=True)
    config, data = str(place / "config.toml"), str(place / "data")
    arguments = [binary, "--config", config, "--data-dir", data, "--llm", "simulated"]
    environment = {
        "HOME": str(place / "home"),
        "REASONING_BANK__LOG__FILE": str(log),
        "REASONING_BANK__LOG__FORMAT": "json",
    }
    reach = {"stdio": over_stdio, "http": over_http}[transport]
    mode = revision if revision.startswith("2026") else "legacy"
    with open(place / "stderr", "w") as stderr:
        async with reach(place, arguments, environment, stderr) as (connection, end):
            async with Client(connection, mode=mode) as client:
                yield client
                closing = time.monotonic()
            code = end()
            took = time.monotonic() - closing
    check("the process ends well", code == 0 and took < EXIT_WITHIN_S, f"exit {code} after {took:.2f} s")


async def session(place):
    async with server(place, latency_ms=120) as client:
        check("the revision is agreed on", client.protocol_version == revision, client.protocol_version)
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        missing = [name for name in CORE if name not in tools]
        check("the core tools are listed", not missing, f"missing: {missing}")
        check("every tool says what it answers", all(tool.output_schema for tool in tools.values()))

        recorded = (await client.call_tool("record_memory", LESSON)).structured_content
        check("a lesson is recorded", recorded["status"] == "created", recorded)
        found = await client.call_tool("retrieve_memories", {"query": "a rename fails with a sharing violation"})
        ids = [memory["id"] for memory in found.structured_content["memories"]]
        check("it is found", recorded["id"] in ids, ids)
        check("the text says the same", json.loads(found.content[0].text) == found.structured_content)

        heard = []

        async def progress(value, total, _message):
            heard.append((value, total))

        task = {"task": "Write a binary search over a sorted list.", "matts_k": 3}
        solved = (await client.call_tool("solve_coding_task", task, progress_callback=progress)).structured_content
        check("a task is solved", solved["outcome"] == "success" and solved["solution"], solved)
        values, totals = [value for value, _ in heard], {total for _, total in heard}
        rising = all(one < two for one, two in zip(values, values[1:]))
        check("progress rises towards one total", len(values) > 1 and rising and len(totals) == 1, heard)
        check("progress stays within it", values and totals and values[-1] <= max(totals), heard)

        refused = await client.call_tool("retrieve_memories", {"query": "q", "n_results": 1000})
        error = refused.structured_content
        known = refused.is_error and error["code"] == "invalid_argument" and error["retryable"] is False
        check("an error is a tool error with code, message, hint and retryable",
              known and "n_results" in error["message"] and error["hint"], error)
        check("an error says the same as text", json.loads(refused.content[0].text) == error)

        calls = {
            "report_outcome": {"memory_ids": [recorded["id"]], "helpful": True},
            "get_memory_genealogy": {"memory_id": recorded["id"]},
            "get_statistics": {},
        }
        for name, arguments in calls.items():
            answer = await client.call_tool(name, arguments)
            check(f"{name} answers", not answer.is_error, answer.structured_content)

    async with server(place, latency_ms=60_000) as client:
        async with anyio.create_task_group() as calls:
            calls.start_soon(client.call_tool, "solve_coding_task", {"task": "Sort a list."})
            # Answered after the solve was read: there is a call to cancel.
            await client.call_tool("retrieve_memories", {"query": "q"})
            calls.cancel_scope.cancel()
        found = await client.call_tool("retrieve_memories", {"query": "rename"})
        check("a session goes on after a cancelled call", not found.is_error, found.structured_content)
        # Before the server ends, which would cancel the solve as well.
        with anyio.move_on_after(EXIT_WITHIN_S):
            while not solves_ended(place):
                await anyio.sleep(0.05)
        ends = solves_ended(place)
        check("a cancelled solve ends at once", ends == ["cancelled"], ends)


def solves_ended(place):
    """The outcomes of the solves that ended, as the log tells them."""
    *whole, _rest = (place / "log").read_text().split("\n")
    lines = [json.loads(line)["fields"] for line in whole]
    return [fields["outcome"] for fields in lines if fields["message"] == "a task ended"]


with tempfile.TemporaryDirectory() as directory:
    place = Path(os.path.realpath(directory))
    for name in ("home", "project"):
        (place / name).mkdir()
    try:
        anyio.run(session, place)
    except BaseException as error:  # a check that cannot be made has failed
        check("the session", False, repr(error))
        print((place / "stderr").read_text() if (place / "stderr").exists() else "", file=sys.stderr)
check.end()
