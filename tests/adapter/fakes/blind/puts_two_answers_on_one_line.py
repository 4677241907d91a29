"""Writes an event and an answer on one line, at other times a JSON-RPC batch in a list."""

import json
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def line(self, **members):
        event = '{"jsonrpc":"2.0","method":"event","params":{"object":"o1","name":"A"}}'
        text = json.dumps({"jsonrpc": "2.0", **members})
        if self.asked > 6:
            text = f"[{event},{text}]" if self.asked % 2 else event + text
        base.push(text.encode() + b"\n")


Hostile().run()
