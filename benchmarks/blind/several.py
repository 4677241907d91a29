"""`python several.py DRIVER FAULT+FAULT`: run a driver of a blind set, which knows one fault at a time, with several.

The drivers compare one name with the name of each fault. Here it is a name that equals several.
"""

from __future__ import annotations

import runpy
import sys


class Several(str):
    """A name that equals each of the names in it, joined by `+`."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return other in self.split("+")

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


if __name__ == "__main__":
    driver, faults = sys.argv[1:]
    sys.argv = [driver, Several(faults)]
    runpy.run_path(driver, run_name="__main__")
