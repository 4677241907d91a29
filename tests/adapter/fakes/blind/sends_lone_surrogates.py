"""Puts lone surrogates, NULs and noncharacters into names, labels, handles and failures, correctly escaped as JSON allows."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402

TRICK = "\ud800x\udfff\udc80\u0000\ufffe\uffff\U0010ffff"


class Hostile(base.Driver):
    def before(self, number, name, params):
        if isinstance(params.get("queue"), str):
            params["queue"] = int(params["queue"].split("=")[-1]) if "=" in params["queue"] else 0

    def hello(self, params):
        return {**super().hello(params), "name": TRICK, "version": TRICK}

    def after(self, number, name, result):
        if "queue" in result:
            result = {**result, "queue": f"{TRICK}={result['queue']}"}
        elif "message" in result:
            result = {**result, "message": {**result["message"], "label": TRICK, "administration_queue": TRICK}}
        elif result["status"] >= 0x80000000 and self.asked % 3 == 0:
            result = {"status": None, "failure": {"kind": TRICK, "text": TRICK}}
        return result


Hostile().run()
