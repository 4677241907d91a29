"""Its name, its labels and its failures hold HTML, scripts, the ends of CDATA and comments, Markdown, spreadsheet formulas and template marks."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402

TRICK = "</script><script>alert(1)</script><img src=x onerror=alert(2)>]]>--><!--&amp;&#0;\"'`|a|b|\n# x\n```\n=cmd|' /C calc'!A0\n{{7*7}}${7*7}%(x)s{0.__class__}"


class Hostile(base.Driver):
    def hello(self, params):
        return {**super().hello(params), "name": TRICK, "version": TRICK, "readings": {TRICK: TRICK}}

    def after(self, number, name, result):
        if result["status"] >= 0x80000000 and self.asked % 2:
            result = {"status": None, "failure": {"kind": TRICK, "text": TRICK}}
        elif "message" in result:
            result = {**result, "message": {**result["message"], "label": TRICK, "response_queue": TRICK}}
        return result


Hostile().run()
