"""Prints what people print by mistake, a banner, a warning and progress dots, on stdout before and between its answers."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def started(self):
        base.push(b"Welcome to HostileMQ 1.0\r\n\r\nWARNING: DeprecationWarning: x\n")

    def after(self, number, name, result):
        base.push(b"....\n")
        return result


Hostile().run()
