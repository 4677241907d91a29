"""Ignores its input and writes "y" and a line feed up to 2 GB, as the program yes does."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402

base.guard()
base.flood(b"y\n" * 500000, 2 << 30)
