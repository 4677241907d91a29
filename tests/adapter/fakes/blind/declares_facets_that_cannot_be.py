"""Names a facet twice, the same method twice, methods with a dot, with no name, and facets with the names of Python's own attributes."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def hello(self, params):
        odd = {"": [""], "__dict__": ["__init__"], "messages.send": ["send"], "cursors": ["open", "open"], "clock": [], "Queues": ["create"], "x\x00": ["\x1b[2J"]}
        return {**super().hello(params), "facets": {**self.facets, **odd}}


Hostile().run()
