"""An MCP server of this project over stdio, for the scripts that measure through one."""
import json
import subprocess

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "measure", "version": "1"},
}


class McpServer:
    """One process, spoken to line by line. It is initialized when this returns."""

    def __init__(self, command, directory, environment, stderr=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                                        cwd=directory, env=environment, text=True)
        self.sent = 0
        self.call("initialize", INITIALIZE)
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        self.process.stdin.flush()

    def call(self, method, params):
        self.sent += 1
        self.send({"id": self.sent, "method": method, "params": params})
        while (answer := json.loads(self.process.stdout.readline())).get("id") != self.sent:
            pass
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["result"]

    def tool(self, name, arguments):
        """Calls a tool and returns its answer."""
        result = self.call("tools/call", {"name": name, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(f"{name} of {arguments!r}: {result['structuredContent']}")
        return result["structuredContent"]

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
