"""Small files of strangers: read only if they are files, and parsed only if their text costs what its size suggests.

A FIFO would be waited for without end; a key of 50,000 dots costs tomllib gigabytes; a number of 5,000 digits is no
number to Python.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

MAX_DIGITS = 308
"""Digits of the longest number: one with more is no float."""
MAX_DOTS = 32
"""Dots of the longest TOML key: what tomllib needs for one grows with their square."""
_STRINGS = re.compile(
    r'"{3}(?:[^"\\]|\\.|"(?!""))*+"{0,5}|\'{3}(?:[^\']|\'(?!\'\'))*+\'{0,5}|"(?:[^"\\\n]|\\.)*+"?|\'[^\'\n]*+\'?|#[^\n]*',
    re.DOTALL,
)
_NUMBER = re.compile(rf"[0-9_]{{{MAX_DIGITS + 1},}}")
_KEY = re.compile(rf"(?:\.[^.\n=]*+){{{MAX_DOTS + 1},}}")


class UnfitError(ValueError):
    """A file is nothing that this program wrote; the text says why and follows the file's name."""


def text_of(path: Path, most: int) -> str:
    """Return the text of a file of at most `most` bytes. Raises OSError and UnfitError."""
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UnfitError("is not a file")
        data = file.read(most + 1)
    if len(data) > most:
        raise UnfitError(f"is larger than {most >> 20} MiB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UnfitError("is not UTF-8 text") from None


def _without_waiting(name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NONBLOCK)  # a FIFO without a writer opens at once


def json_value(text: str) -> Any:
    """Parse JSON. Raises UnfitError."""
    try:
        return json.loads(text)
    except RecursionError:
        raise UnfitError("is nested too deeply") from None
    except ValueError:  # Also for an integer with more digits than Python converts.
        raise UnfitError("is not JSON") from None


def toml_table(text: str) -> dict[str, Any]:
    """Parse TOML. Raises UnfitError."""
    bare = _STRINGS.sub("", text)  # keys, numbers and brackets alone
    if _NUMBER.search(bare):
        raise UnfitError(f"has a number of more than {MAX_DIGITS} digits")
    if _KEY.search(bare):
        raise UnfitError(f"has a key of more than {MAX_DOTS} dots")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UnfitError("is nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError among them
        raise UnfitError(f"is not valid TOML: {str(error)[:200]}") from None
