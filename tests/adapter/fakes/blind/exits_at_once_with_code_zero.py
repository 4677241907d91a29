"""Ends with exit code 0 before it has read anything, as if all had gone well."""

import os
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402

os._exit(0)
