#!/usr/bin/env python3
"""Measures how often a hook gives the right warning for a failing command, and its time: with the server of a session,
without one, and with the one that hooks start. With --prompts it measures what a hook tells beside prompts instead.

    measure_hooks.py BINARY [--memories N] [--times N] [--failures FILE]
    measure_hooks.py BINARY --prompts [DIRECTORY]

FILE has a failure a line (`tests/data/hooks/failures.jsonl`): the warning that is recorded, the output of a command
that fails as the warning says, and the output of one of the same tool that fails otherwise. N made-up memories lie
around them, a tenth of them warnings. Each failure is told to `hook claude-code PostToolUseFailure` as a process of its
own. A hook answers within a tenth of a second or not at all, so on a busy machine fewer are answered. The wall clock
counts.

DIRECTORY has the memories of several small projects and the prompts of their developers, with the memories that help each
(`tests/data/hooks/prompts`). Most prompts are helped by none. Each is told to `hook claude-code UserPromptSubmit` in a
session of its own, in its project and, as one that has nothing to do with it, in the next one.
"""
import argparse
import json
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

from mcp_server import McpServer

WORDS = """cache queue table index worker session socket token retry batch stream schema lock deploy build parser router
buffer thread module cluster replica metric config header cookie upload image widget layout theme driver kernel packet
signal timer cursor page query""".split()
TYPES = """ValueError KeyError TypeError TimeoutError ConnectionError PermissionError ImportError IndexError
AssertionError OSError RuntimeError""".split()

IDLE_S = 5

arguments = argparse.ArgumentParser()
arguments.add_argument("binary", type=Path)
arguments.add_argument("--memories", type=int, default=10_000)
arguments.add_argument("--times", type=int, default=200)
arguments.add_argument("--failures", type=Path,
                       default=Path(__file__).parent.parent / "tests/data/hooks/failures.jsonl")
arguments.add_argument("--prompts", type=Path, nargs="?",
                       const=Path(__file__).parent.parent / "tests/data/hooks/prompts")
asked = arguments.parse_args()
binary = asked.binary.resolve()
failures = [json.loads(line) for line in asked.failures.read_text().splitlines()]


def serve(place, project="project"):
    """The MCP server of a session."""
    command = [binary, "--data-dir", place / "data", "--llm", "none", "mcp"]
    return McpServer(command, place / project, environment(place), subprocess.DEVNULL)


def environment(place, idle=0):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("REASONING_BANK", "XDG_"))}
    return {**kept, "HOME": str(place), "XDG_RUNTIME_DIR": str(place / "run"), "REASONING_BANK__LLM__PROVIDER": "none",
            "REASONING_BANK__HOOKS__SERVER_IDLE_S": str(idle)}


def run(place, *command, idle=0, **more):
    return subprocess.run([binary, "--data-dir", place / "data", *command], cwd=place / "project",
                          env=environment(place, idle), text=True, capture_output=True, **more)


def made_up(template, number):
    """A memory as an export has it, which is about nothing that fails here."""
    first, second, third, fourth = random.sample(WORDS, 4)
    memory = {**template, "id": f"00000000-0000-4000-8000-{number:012x}",
              "title": f"The {first} {second} needs a {third} {number}",
              "description": f"When the {first} is changed and the {fourth} has number {number}.",
              "content": f"Check the {second} before the {third} of {fourth} {number} starts, then repeat it."}
    if number % 10 == 0:
        kind = random.choice(TYPES)
        memory["error_context"] = {"error_type": kind,
                                   "failure_pattern": f"The {first} {second} raised {kind} for {third}_{number}",
                                   "corrective_guidance": f"Use the {fourth} instead of the {third}."}
    else:
        memory["outcome"] = "success"
        del memory["error_context"]
    return memory


def fill(place):
    server = serve(place)
    for failure in failures:
        warning = failure["warning"]
        server.tool("record_memory", {"title": warning["failure_pattern"][:120],
                                      "description": warning["failure_pattern"],
                                      "content": warning["corrective_guidance"], "error_context": warning})
    server.stop()
    template = json.loads(run(place, "memory", "export").stdout.splitlines()[0])
    file = place / "memories.jsonl"
    file.write_text("".join(json.dumps(made_up(template, number)) + "\n" for number in range(asked.memories)))
    done = run(place, "memory", "import", file)
    assert done.returncode == 0, done.stderr


def hook(place, session, printed, idle):
    """The text that the agent is told of a failure, and the time that this took, in milliseconds. A server that the hook
    starts ends when nobody has asked for `idle` seconds."""
    event = {"session_id": session, "cwd": str(place / "project"), "hook_event_name": "PostToolUseFailure",
             "tool_name": "Bash", "tool_input": {"command": "make"}, "error": printed}
    begun = time.perf_counter()
    ran = run(place, "hook", "claude-code", "PostToolUseFailure", idle=idle, input=json.dumps(event))
    return ran.stdout, (time.perf_counter() - begun) * 1000


def measure(place, mode, idle=0):
    right, wrong, silent = 0, 0, []
    # A session is told a warning in full once.
    for number, failure in enumerate(failures):
        told, _ = hook(place, f"{mode} {number}", failure["met"], idle)
        is_right = failure["warning"]["corrective_guidance"] in told
        right += is_right
        if not is_right:
            silent.append(failure["warning"]["error_type"])
    for failure in failures:
        told, _ = hook(place, mode, failure["other"], idle)
        wrong += bool(told)
        if told:
            print(f"  {mode}: an unrelated failure is warned of: {failure['other'].splitlines()[-1][:100]}")
    times = sorted(hook(place, mode, failures[number % len(failures)]["met"], idle)[1] for number in range(asked.times))
    print(f"{mode}: the right warning for {right} of {len(failures)}, a warning for {wrong} of {len(failures)} "
          f"unrelated failures; {asked.times} hooks: p50 {times[len(times) // 2]:.0f}, "
          f"p95 {times[int(len(times) * .95)]:.0f} ms", flush=True)
    if silent:
        print(f"  {mode}: without their warning: {', '.join(silent)}")


def told_beside(place, project, session, prompt):
    """The text that the agent is told beside a prompt in this project."""
    event = {"session_id": session, "cwd": str(place / project), "hook_event_name": "UserPromptSubmit",
             "prompt": prompt}
    return run(place, "hook", "claude-code", "UserPromptSubmit", input=json.dumps(event)).stdout


def measure_prompts(place):
    memories, prompts = ([json.loads(line) for line in (asked.prompts / name).read_text().splitlines()]
                         for name in ["corpus.jsonl", "queries.jsonl"])
    projects = sorted({memory["workspace"] for memory in memories})
    helped, right, others, silent, foreign, none = 0, 0, 0, 0, 0, 0
    for place_of, project in enumerate(projects):
        (place / project / ".git").mkdir(parents=True)
        server = serve(place, project)
        titles = {memory["id"]: memory["title"] for memory in memories if memory["workspace"] == project}
        for memory in memories:
            if memory["workspace"] == project:
                server.tool("record_memory", {"title": memory["title"], "description": memory["title"],
                                              "content": memory["text"]})
        next_project = projects[(place_of + 1) % len(projects)]
        for prompt in prompts:
            if prompt["workspace"] not in [project, next_project]:
                continue
            told = told_beside(place, project, prompt["id"], prompt["text"])
            if prompt["workspace"] != project:
                foreign, none = foreign + 1, none + (not told)
            elif prompt["gold"]:
                helped, right = helped + 1, right + any(json.dumps(titles[one])[1:-1] in told for one in prompt["gold"])
            else:
                others, silent = others + 1, silent + (not told)
        server.stop()
    print(f"{len(memories)} memories of {len(projects)} projects: the right one beside {right} of {helped} prompts that one "
          f"helps; nothing beside {silent} of {others} other prompts, and beside {none} of {foreign} of other projects")


random.seed(1)
with tempfile.TemporaryDirectory() as directory:
    place = Path(directory)
    for name in ["project/.git", "run", "data"]:
        (place / name).mkdir(parents=True)
    (place / "run").chmod(0o700)
    if asked.prompts:
        measure_prompts(place)
        raise SystemExit
    fill(place)
    print(f"{asked.memories + len(failures):,} memories, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    measure(place, "without a server")
    measure(place, "with a server that a hook starts", IDLE_S)
    while any((place / "run").rglob("*.sock")):
        time.sleep(1)
    server = serve(place)
    measure(place, "with a server")
    server.stop()
