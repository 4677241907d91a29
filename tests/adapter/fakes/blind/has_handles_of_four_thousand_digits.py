"""Its queue handles are integers of 4,000 digits, just below what Python converts, and it takes them back as they were."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if "queue" in params and isinstance(params["queue"], int):
            params["queue"] -= 10**3999

    def after(self, number, name, result):
        return {**result, "queue": result["queue"] + 10**3999} if "queue" in result else result


Hostile().run()
