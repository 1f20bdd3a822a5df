"""What the scripts of this folder serve in the place of a model's API, where they find the programs of clients, and where
they run them."""
import contextlib
import json
import os
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class StandIn(BaseHTTPRequestHandler):
    """Reads requests and answers them. It logs none."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def asked(self):
        return json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")

    def answer(self, body, kind="application/json"):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, events):
        """Answers with server-sent events, each a name and a document."""
        lines = "".join(f"event: {name}\ndata: {json.dumps(document)}\n\n" for name, document in events)
        self.answer(lines.encode(), "text/event-stream")


@contextlib.contextmanager
def served(handler):
    """Serves on a free port until the `with` block ends, and gives the URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


@contextlib.contextmanager
def new_home():
    """Makes a directory with an empty home and an empty repository, which is there until the `with` block ends."""
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        home, project = place / "home", place / "project"
        home.mkdir()
        project.mkdir()
        subprocess.run(["git", "init", "--quiet", project], check=True)
        yield place, home, project


def claude_environment(home):
    """The environment of a Claude Code that has no account and asks nobody but its model."""
    return {"HOME": str(home), "PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "none", "IS_SANDBOX": "1",
            "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


def native(modules, pattern):
    """The program of a package for this machine: the scripts that would put it into place are not run. One for another C
    library is taken where there is no other."""
    found = sorted(modules.glob(pattern), key=lambda path: ("musl" not in str(path), path))
    return str(found[-1]) if found else pattern


CLAUDE = "@anthropic-ai/claude-code-linux-*/claude"
CODEX = "@openai/codex-linux-*/vendor/*/bin/codex"
