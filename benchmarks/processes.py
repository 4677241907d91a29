"""What this process and those below it have used: core-seconds, and the memory of the biggest one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_EVERY_S: Final = 0.5
_PEAK_AGAIN: Final = "5"
"""Written to `clear_refs`, it makes the most memory of a process that which it has now (proc(5))."""


@dataclass(slots=True)
class Most:
    """Bytes of the biggest process while it was watched. python: all that a Python process had in memory.

    own: without the pages of files that it had mapped. java: of Java, all.
    """

    python: int = 0
    own: int = 0
    java: int = 0


def spent() -> float:
    """Return the core-seconds so far of this process and of those below it."""
    ticks: dict[int, int] = {}
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            words = stat.read_text().rpartition(")")[2].split()
            number = int(stat.parent.name)
            parents[number] = int(words[1])
            ticks[number] = sum(map(int, words[11:15]))  # Its own, and those of children that have ended.
    return sum(many for number, many in ticks.items() if _below(number, parents)) / os.sysconf("SC_CLK_TCK")


@contextmanager
def watching() -> Iterator[Most]:
    """Watch the memory of this process and of those below it."""
    most = Most()
    for number in _descendants():
        with suppress(OSError):
            Path(f"/proc/{number}/clear_refs").write_text(_PEAK_AGAIN)
    with _repeated(lambda: _look(most)):
        yield most
    _look(most)


@contextmanager
def _repeated(deed: Callable[[], None]) -> Iterator[None]:
    over = threading.Event()

    def work() -> None:
        while not over.wait(_EVERY_S):
            deed()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _look(most: Most) -> None:
    for number in _descendants():
        with suppress(OSError, ValueError, KeyError, IndexError):
            text = Path(f"/proc/{number}/status").read_text()
            lines = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
            peak, own = (int(lines[name].split()[0]) << 10 for name in ("VmHWM", "RssAnon"))
            if lines["Name"].strip().startswith("python"):
                most.python, most.own = max(most.python, peak), max(most.own, own)
            elif lines["Name"].strip() == "java":
                most.java = max(most.java, peak)


def _descendants() -> list[int]:
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    return [number for number in parents if _below(number, parents)]


def _below(number: int, parents: dict[int, int]) -> bool:
    """Tell whether a process is this one or was started by it."""
    while number > 1 and number != os.getpid():
        number = parents.get(number, 0)
    return number == os.getpid()
