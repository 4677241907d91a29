"""Uses NaN, Infinity, 1e999 and -1e999 as statuses, times and counts."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        if self.asked > 8:
            odd = (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999")[self.asked % 5]
            return base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"status":%b}}\n' % (number, odd))
        return result


Hostile().run()
