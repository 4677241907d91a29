"""What all tests need of the process they run in."""

from __future__ import annotations

import signal

# A job that a shell starts in the background ignores Ctrl-C, and so do its children: what tests interrupt must not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
