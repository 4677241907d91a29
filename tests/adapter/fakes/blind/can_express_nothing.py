"""Offers every facet, and answers all but hello and stop with NotExpressible."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    facets = {**base.Driver.facets, "cursors": ["open", "close"], "transactions": ["begin", "prepare", "commit", "abort"], "names": ["parse"],
              "packets": ["encode", "decode", "deliver"], "structures": ["encode", "decode"], "outgoing": ["pause", "resume", "take"]}

    def before(self, number, name, params):
        if name not in ("hello", "attach", "stop"):
            self.answer(number, {"status": None, "failure": {"kind": "NotExpressible", "text": f"{name} with {params}"[:300]}})
            return True


Hostile().run()
