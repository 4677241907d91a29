"""Ends before it has said anything, with a reason on stderr."""

import sys

print("cannot open the broker", file=sys.stderr)
sys.exit(7)
