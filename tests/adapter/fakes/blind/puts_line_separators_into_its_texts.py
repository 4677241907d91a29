"""Its texts hold U+2028, U+2029, U+0085, vertical tabs and form feeds, written raw where JSON allows it: one line for the protocol, many for splitlines."""

import json
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        if name == "hello" or "message" in result:
            if "message" in result:
                result["message"] = {**result["message"], "label": "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg"}
            else:
                result["name"] = "a\u2028b\u2029c\u0085d"
            return base.push(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}, ensure_ascii=False).encode() + b"\n")
        return result


Hostile().run()
