"""Processes that a driver leaves behind, on Linux: those that left its process group, and those that outlive it.

A *stray* is a process that was started for a driver and has its own session, so that killing the driver's group does
not reach it. When this process is a *subreaper*, strays whose parents have ended become its children.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_ROUNDS = 20  # rounds of killing; each kills what was started during the round before
_SHOWN = 120  # characters of a command line
_NAMED = 50  # strays listed one by one

_children_before: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Process:
    """A process as described by /proc."""

    pid: int
    parent: int
    session: int
    ended: bool

    @property
    def command(self) -> str:
        """The command line on one line, or the name in brackets."""
        try:
            words = Path(f"/proc/{self.pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            name = Path(f"/proc/{self.pid}/comm").read_text("utf-8", "replace")
        except OSError:
            return "?"
        shown = " ".join(words.split()) or f"[{name.strip()}]"
        return ascii(shown[:_SHOWN])[1:-1] + ("..." if len(shown) > _SHOWN else "")


def adopt() -> None:
    """Become the subreaper of processes that drivers start. Does nothing on a second call or another system."""
    global _children_before
    if _children_before is not None or not sys.platform.startswith("linux"):
        return
    import ctypes  # imported here because only a run that starts a process needs it

    with contextlib.suppress(OSError, AttributeError):
        _children_before = frozenset(each.pid for each in _processes() if each.parent == os.getpid())
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_session(leader: int) -> None:
    """Kill every process of the session of `leader`, whatever its group. leader: must not be reaped yet."""
    for _ in range(_ROUNDS):
        alive = [each for each in _processes() if each.session == leader and each.pid != leader]
        for each in alive:
            if each.ended and each.parent == os.getpid():
                _reap(each.pid)
            elif not each.ended:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(each.pid, signal.SIGKILL)
        if all(each.ended for each in alive):
            return
        time.sleep(0.001)


def strays(drivers: Collection[int]) -> list[Process]:
    """Return the living strays of this process, sorted by pid, and reap those that have ended.

    drivers: pids of the drivers that are still in use.
    """
    if _children_before is None:
        return []
    known = {os.getpid()}
    ours, found = os.getsid(0), []
    children: dict[int, list[Process]] = {}
    for each in _processes():
        children.setdefault(each.parent, []).append(each)
    ahead = [os.getpid()]
    while ahead:
        for each in children.get(ahead.pop(), ()):
            if each.pid in known or each.pid in _children_before or each.session in drivers:
                continue
            known.add(each.pid)
            if each.session == ours:
                continue  # Our own child, or one of our caller's: a pytest worker names its own.
            if each.ended and each.parent == os.getpid():
                _reap(each.pid)
            elif not each.ended:
                found.append(each)
                ahead.append(each.pid)
    return sorted(found, key=lambda each: each.pid)


def told(left: Collection[Process]) -> str:
    """Return one sentence that lists strays."""
    named = "; ".join(f"{each.pid} ({each.command})" for each in list(left)[:_NAMED])
    more = f"; and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    what = (
        "1 process that the driver started lives"
        if len(left) == 1
        else f"{len(left)} processes that the driver started live"
    )
    return f"{what} on outside its process group, and mqconform leaves it to you to end: {named}{more}"


def _reap(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _processes() -> Iterator[Process]:
    try:
        names = [entry.name for entry in os.scandir("/proc")]
    except OSError:
        return
    for name in names:
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError):
                stat = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()
                yield Process(int(name), int(stat[1]), int(stat[3]), stat[0] in (b"Z", b"X"))
