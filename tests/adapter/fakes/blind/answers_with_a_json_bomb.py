"""Answers queues.create, from the fifth on, with a line just below 8 MiB that is a list of 1.1 million objects where a text belongs."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if name == "queues.create" and self.count[name] >= 5:
            base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"status":0,"format_name":[' % number + b'{"":0},' * 1190000 + b"0]}}\n")
            return True


Hostile().run()
