"""A scripted stand-in for the Messages API: a real Claude Code runs with it, without a model and without a key.

Step i of the script answers the i-th request that offers tools: {"tool": NAME, "input": {…}} or {"text": "…"}. Requests
without tools get a short text. `requests` has the bodies of those that offered tools. `before` is called before each
answer, as a model takes its time.
"""
import json

from stand_in import StandIn, served


def events(step, number, model):
    usage = {"input_tokens": 10, "output_tokens": 1}
    yield "message_start", {"type": "message_start", "message": {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage}}
    if "tool" in step:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": step["tool"], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(step["input"])}
        reason = "tool_use"
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": step["text"]}
        reason = "end_turn"
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    yield "message_delta", {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
                            "usage": {"output_tokens": 5}}
    yield "message_stop", {"type": "message_stop"}


def new_messages(requests, at):
    """The messages that the request has beyond the one before it, as text."""
    return "\n".join(json.dumps(message) for message in requests[at]["messages"][len(requests[at - 1]["messages"]):])


class ScriptedModel:
    """Serves until the `with` block ends."""

    def __init__(self, script, before=lambda: None):
        self.script, self.before, self.requests, self.number = script, before, [], 0
        model = self

        class Handler(StandIn):
            def do_GET(self):
                self.answer(b"{}")

            def do_HEAD(self):
                self.answer(b"")

            def do_POST(self):
                body = self.asked()
                if "count_tokens" in self.path:
                    return self.answer(b'{"input_tokens": 10}')
                if "/messages" not in self.path:
                    return self.answer(b"{}")
                model.number += 1
                step = {"text": "ok"}
                if body.get("tools"):
                    step = model.script[min(len(model.requests), len(model.script) - 1)]
                    model.requests.append(body)
                model.before()
                self.stream(events(step, model.number, body.get("model", "m")))

        self.serving = served(Handler)

    def __enter__(self):
        self.url = self.serving.__enter__()
        return self

    def __exit__(self, *why):
        return self.serving.__exit__(*why)
