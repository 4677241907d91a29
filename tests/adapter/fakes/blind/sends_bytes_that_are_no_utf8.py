"""Writes answers with bytes that are no UTF-8, surrogates as three bytes, overlong signs, or all of it in UTF-16."""

import json
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def line(self, **members):
        text = json.dumps({"jsonrpc": "2.0", **members}).encode()
        if self.asked > 8:
            odd = (b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\xaf", b"\x80", b"\xf5\x80\x80\x80")[self.asked % 5]
            text = text.replace(b'"2.0"', b'"2.0","x":"' + odd + b'"', 1)
            if self.asked % 7 == 0:
                text = json.dumps({"jsonrpc": "2.0", **members}).encode("utf-16")
        base.push(text + b"\n")


Hostile().run()
