#!/usr/bin/env python3
"""The MCP Python SDK, as any client uses it, against the real server over stdio. One line a check, exit 1 if one fails.

    session.py BINARY REVISION

REVISION is 2025-11-25 (handshake, mode "legacy" of the SDK) or 2026-07-28 (stateless, that version pinned): `mcp` 2.x
speaks both. Structured answers are held against their schemas by the SDK itself.
"""
import json
import os
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

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
EXIT_WITHIN_S = 2.0

binary, revision = sys.argv[1:]
failed = 0


def check(what, fine, why=""):
    global failed
    failed += not fine
    print(f"{'ok  ' if fine else 'FAIL'} python {revision}: {what}" + ("" if fine else f": {why}"), flush=True)


@asynccontextmanager
async def server(place, latency_ms):
    """A client of a new process, which has to end by itself, in time and with 0, once the client closes its input."""
    (place / "config.toml").write_text(f"[llm.simulated]\nlatency_ms = {latency_ms}\n")
    status, log = place / "status", place / "log"
    status.unlink(missing_ok=True)
    log.unlink(missing_ok=True)
    arguments = ["--config", str(place / "config.toml"), "--data-dir", str(place / "data"), "--llm", "simulated", "mcp"]
    parameters = StdioServerParameters(
        # The SDK keeps the exit status to itself, and ends a process that stays by a signal, this shell with it.
        command="/bin/sh",
        args=["-c", '"$@"; echo $? >"$STATUS"', "sh", binary, *arguments],
        cwd=str(place / "project"),
        env={
            "HOME": str(place / "home"),
            "STATUS": str(status),
            "REASONING_BANK__LOG__FILE": str(log),
            "REASONING_BANK__LOG__FORMAT": "json",
        },
    )
    mode = revision if revision.startswith("2026") else "legacy"
    with open(place / "stderr", "w") as stderr:
        async with Client(stdio_client(parameters, errlog=stderr), mode=mode) as client:
            yield client
            closing = time.monotonic()
    took = time.monotonic() - closing
    code = status.read_text().strip() if status.exists() else "none: it had to be killed"
    check("the process ends by itself", code == "0" and took < EXIT_WITHIN_S, f"exit {code} after {took:.2f} s")


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
    lines = [json.loads(line) for line in (place / "log").read_text().splitlines()]
    ends = [line["fields"].get("outcome") for line in lines if line["fields"]["message"] == "a task ended"]
    check("a cancelled solve ends at once", ends == ["cancelled"], lines)


with tempfile.TemporaryDirectory() as directory:
    place = Path(os.path.realpath(directory))
    for name in ("home", "project"):
        (place / name).mkdir()
    try:
        anyio.run(session, place)
    except BaseException as error:  # a check that cannot be made has failed
        check("the session", False, repr(error))
        print((place / "stderr").read_text() if (place / "stderr").exists() else "", file=sys.stderr)
sys.exit(bool(failed))
