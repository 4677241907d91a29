"""Writes back every line it reads, as cat does, so that requests come back as if the driver asked them."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402

base.guard()
while line := sys.stdin.buffer.readline():
    base.push(line)
