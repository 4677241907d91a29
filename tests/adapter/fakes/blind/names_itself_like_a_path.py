"""Its name, version and computer look like paths that lead out of a folder, format strings, options, and a name of 250 kB."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def hello(self, params):
        return {**super().hello(params), "name": "../../../../../../tmp/mqconform-escaped/%n%s{x}" + "/n" * 125000, "version": "--help;$(id)\x00.html",
                "computer": "..\\..\\CON|NUL", "queue_manager": "00000000-0000-0000-0000-000000000000"}


Hostile().run()
