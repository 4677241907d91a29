"""Puts integers of 100,000 digits where a time, a count, a handle or an identifier belongs."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    facets = {**base.VirtualDriver.facets}
    clock = "virtual"

    def after(self, number, name, result):
        digits = b"9" * 100000
        wrong = {"queues.open": b'"queue":', "queues.counts": b'"messages":', "clock.now": b'"time_ms":', "clock.advance": b'"time_ms":'}
        if name in wrong and self.count[name] > 2:
            return base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"status":0,' % number + wrong[name] + digits + b"}}\n")
        if self.asked == 40:
            return base.push(b'{"jsonrpc":"2.0","id":' + digits + b',"result":{"status":0}}\n')
        return result


Hostile().run()
