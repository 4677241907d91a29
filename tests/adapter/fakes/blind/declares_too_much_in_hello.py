"""Its hello names 60,000 facets with methods, 60,000 limits and 60,000 readings, in a valid line just below 8 MiB."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def hello(self, params):
        return {**super().hello(params), "facets": {**self.facets, **{f"facet{n}": ["a", "b", f"m{n}"] for n in range(60000)}},
                "limits": {f"limit{n}": 10**30 for n in range(60000)}, "readings": {f"reading.{n}": "yes" for n in range(60000)}}


Hostile().run()
