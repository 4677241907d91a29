"""Labels are 7 million letters and one musical sign, so that every text takes four times its length in memory and 12 times in escaped form."""

import json
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        if "message" in result:
            text = json.dumps({"jsonrpc": "2.0", "id": number, "result": {**result, "message": {**result["message"], "label": "WIDE"}}})
            return base.push(text.replace("WIDE", "\U0001d11e" + "a" * 7000000).encode() + b"\n")
        return result


Hostile().run()
