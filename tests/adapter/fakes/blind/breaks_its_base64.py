"""Gives bodies back with wrong padding, line feeds, the letters of URLs, stray bits, or signs beyond ASCII."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        odd = ["====", "QQ", "QR==", "Q", "QUJD\n", "-_-_", "QQ==QQ==", "QUJ\u0663", "\u212aAAA", "A" * 100001, "QQ=\u200b="]
        if "message" in result:
            result = {**result, "message": {**result["message"], "body": odd[self.count[name] % len(odd)]}}
        return result


Hostile().run()
