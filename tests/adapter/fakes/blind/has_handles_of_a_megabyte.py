"""Its queue handles are texts of 1 MB, each of them valid, so that every later request and every step of every story holds one."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if isinstance(params.get("queue"), str):
            params["queue"] = int(params["queue"].strip("h") or 0)

    def after(self, number, name, result):
        return {**result, "queue": "h" * base.MB + str(result["queue"])} if "queue" in result else result


Hostile().run()
