"""Answers failures with status null and no failure, with a failure beside a success, and with kinds that are empty, long, or NotExpressible of what it has just done."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        fail = {"kind": "NotExpressible", "text": ""}
        odd = [{"status": None}, {**result, "failure": fail}, {"status": None, "failure": fail}, {"status": None, "failure": {"kind": "", "text": "t" * base.MB}}]
        return odd[self.asked // 4 % 4] if self.asked > 12 and self.asked % 4 == 0 else result


Hostile().run()
