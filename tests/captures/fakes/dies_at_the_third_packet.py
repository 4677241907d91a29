"""A driver that crashes when it reads its third packet."""

import os

from conformance.embedded.driver import EmbeddedDriver


class Driver(EmbeddedDriver):
    packets = 0

    def handle(self, method, params, reply, pending):
        if method == "packets.decode":
            self.packets += 1
            if self.packets == 3:
                os._exit(134)
        super().handle(method, params, reply, pending)
