"""Its name and version hold escape sequences that clear the screen, set the title, write to the clipboard and turn the writing round; so do its failures and its log."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402

TRICK = "\x1b[2J\x1b[H\x1b]0;owned\x07\x1b]52;c;cm0gLXJm\x07\x1b[8m\x9b31m\r\x08\x08OK\u202egnihtyreve\u2066\x00\x7f\n::error::x\n##vso[task.complete result=Succeeded]"


class Hostile(base.Driver):
    def started(self):
        base.push((TRICK + "\n").encode() * 20, 2)

    def hello(self, params):
        return {**super().hello(params), "name": "mq" + TRICK, "version": TRICK}

    def after(self, number, name, result):
        if result["status"] >= 0x80000000:
            result = {"status": None, "failure": {"kind": "Error" + TRICK, "text": TRICK}}
        elif "message" in result:
            result = {**result, "message": {**result["message"], "label": TRICK}}
        return result


Hostile().run()
