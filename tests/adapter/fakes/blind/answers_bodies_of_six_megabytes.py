"""Every message it gives back has another body of 6 MB, in a valid line just below 8 MiB."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        if "message" in result:
            result = {**result, "message": {**result["message"], "body": f"{self.asked:04}" * 2000000}}
        return result


Hostile().run()
