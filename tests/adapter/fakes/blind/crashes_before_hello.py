"""Exits with code 1 and a long Python traceback on stderr before it has read anything."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402

base.guard()


def deep(n):
    return deep(n - 1) if n else {}["the driver's own mistake"]


deep(200)
