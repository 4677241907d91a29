"""Reads nothing and writes nothing for 170 s, deaf to SIGTERM and SIGINT."""

import signal
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402

base.guard()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
time.sleep(170)
