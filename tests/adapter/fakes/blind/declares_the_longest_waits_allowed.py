"""Declares settle_ms and slack_ms of 60,000 each, the most the schema allows, and answers quickly."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    slack_ms = settle_ms = 60000


Hostile().run()
