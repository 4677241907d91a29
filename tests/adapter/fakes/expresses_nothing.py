"""Answers that its API cannot express a call, whatever the call."""

import json
import sys

from honest import Honest

METHODS = {
    "clock": ["now", "advance"],
    "names": ["parse"],
    "queues": ["create", "open", "close", "delete", "purge", "get", "set", "counts"],
    "messages": ["send", "receive", "peek", "peek_next", "receive_by_lookup_id", "move", "cancel"],
    "cursors": ["open", "close"],
    "transactions": ["begin", "prepare", "commit", "abort"],
    "coordinator": ["enlist", "prepare", "commit", "abort", "in_doubt", "outcome", "context", "requests", "refuse"],
    "outgoing": ["counts", "pause", "resume"],
    "management": ["get", "action"],
    "security": ["get", "set", "certificates"],
    "directory": ["use", "own", "read", "begin", "next", "end", "create", "delete", "write", "get", "set"],
    "packets": ["encode", "decode"],
    "structures": ["encode", "decode"],
    "objects": ["create", "invoke", "get", "query", "release", "advise", "unadvise"],
}


class ExpressesNothing(Honest):
    def run(self) -> None:
        for line in sys.stdin:
            request = json.loads(line)
            number, method = request["id"], request["method"]
            if method == "hello":
                facets = {"manager": ["hello", "reset", "stop"], **METHODS}
                self.answer(
                    number, protocol="1.3", name="expresses-nothing", version="1", profile="msmq-4.0",
                    computer="HOST", facets=facets, clock="virtual",
                )  # fmt: skip
            elif method in ("reset", "stop"):
                self.answer(number)
                if method == "stop":
                    return
            elif method == "clock.now":
                self.answer(number, time_ms=0)
            else:
                self.refuse(number, method)

    def refuse(self, number, method) -> None:
        failure = {"kind": "NotExpressible", "text": f"this API has no {method}"}
        self.write(json.dumps({"jsonrpc": "2.0", "id": number, "result": {"status": None, "failure": failure}}))


if __name__ == "__main__":
    ExpressesNothing().run()
