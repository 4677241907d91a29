"""Answers stop, ignores the end of its input, and runs on."""

import time

from honest import Honest

Honest().run()
time.sleep(60)
