"""Never says a word."""

import sys

for _ in sys.stdin:
    pass
