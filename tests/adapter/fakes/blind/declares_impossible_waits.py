"""Declares a settle_ms of 10**30 and a slack_ms of -1."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    slack_ms, settle_ms = -1, 10**30


Hostile().run()
