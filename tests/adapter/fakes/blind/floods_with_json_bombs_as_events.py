"""Writes valid events just below 8 MiB whose arguments are millions of empty objects: each takes some 250 MB when it is parsed, and forty come at once."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402

BOMB = b'{"jsonrpc":"2.0","method":"event","params":{"object":"o1","name":"Arrived","arguments":[' + b"{}," * 2790000 + b"{}]}}\n"


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked == 10:
            base.flood(BOMB, 40 * len(BOMB))


Hostile().run()
