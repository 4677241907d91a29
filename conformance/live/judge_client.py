"""The live judge, seen from the process that moves the traffic, which never waits for it, and what it has found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from conformance.verdict import ExitCode

MAX_ROWS: Final = 200
"""Pairs of ends that are told; the one silent longest makes room."""
MAX_DEVIATIONS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Row:
    """A pair of ends. packets: both ways. deviations: failed verdicts on them. last: the kind of the last packet."""

    ends: str
    packets: int
    deviations: int
    last: str


@dataclass(frozen=True, slots=True)
class Deviation:
    """A packet that deviates. outcomes: requirement id to outcome, of all verdicts other than pass."""

    packet: int
    direction: str
    kind: str
    outcomes: Mapping[str, str]


@dataclass(slots=True)
class State:
    """packets: judged so far. deviations: failed verdicts, and rows and packets with them. outcomes, exit_code,
    sentence, folder: at the end."""

    packets: int = 0
    deviations: int = 0
    rows: Sequence[Row] = ()
    deviating: list[Deviation] = field(default_factory=list)
    outcomes: Mapping[str, int] = field(default_factory=dict)
    exit_code: ExitCode | None = None
    sentence: str | None = None
    folder: str | None = None

    def take(self, told: Mapping[str, Any]) -> Deviation | None:
        """Take in a line. Returns the packet it tells of, if it does and there is room."""
        if "deviation" in told:
            found = Deviation(**told["deviation"])
            if len(self.deviating) < MAX_DEVIATIONS:
                self.deviating.append(found)
                return found
            return None
        self.packets, self.deviations = told["packets"], told["deviations"]
        self.rows = [Row(**each) for each in told["rows"]]
        if "end" in told:
            end = told["end"]
            self.outcomes, self.exit_code = end["outcomes"], ExitCode(end["exit_code"])
            self.sentence, self.folder = end["sentence"], end["folder"]
        return None


MAX_QUEUED: Final = 64 << 20
"""Bytes that wait for the judge."""
DRAIN_S: Final = 60.0
"""Seconds that the judge gets at the end for what still waits."""
BEHIND: Final = 1 << 20
"""Bytes that wait when a judge is called behind."""
_AT_ONCE = 1 << 18
_BLOCK = 64  # Bytes that a block costs beside its own.


@dataclass(frozen=True, slots=True)
class Judging:
    """How to judge; the members are those of `replay_captures`. clients_of: only what clients of this server sent."""

    profile: str | None = None
    level: str = "must"
    readings: str = "windows"
    chosen: Sequence[str] = ()
    out: str | None = None
    command: Sequence[str] = ()
    clients_of: str | None = None


class LiveJudge:
    """A judge in a process of its own. left_out: blocks that found no room. state: what it has told."""

    def __init__(self, judging: Judging, on_deviation: Callable[[Deviation], object] | None = None) -> None:
        """on_deviation: called, from a thread, with each packet that deviates."""
        self.state = State()
        self.left_out = 0
        self._on_deviation = on_deviation
        self._queue: deque[bytes] = deque()
        self._waiting = 0
        self._changed = threading.Condition()
        self._over = False
        command = [sys.executable, "-P", "-m", "conformance.live.judge_process", json.dumps(asdict(judging))]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child_environment(),
            start_new_session=True,  # Ctrl-C at the terminal is for us; the end of its input ends the judge.
        )
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._hand_on, self._listen)]
        for thread in self._threads:
            thread.start()

    @property
    def waiting(self) -> int:
        """Bytes that wait for the judge."""
        return self._waiting

    @property
    def behind(self) -> bool:
        """True while much waits for the judge."""
        return self._waiting > BEHIND

    def feed(self, block: bytes) -> None:
        """Add a block of the capture, or leave it out when too many wait. Does not wait."""
        with self._changed:
            if self._waiting > MAX_QUEUED:
                self.left_out += 1
                return
            self._queue.append(block)
            self._waiting += len(block) + _BLOCK
            if len(self._queue) == 1:
                self._changed.notify()

    def end(self, within_s: float = DRAIN_S) -> State:
        """Let the judge finish, and return all it has said. One that takes longer is ended: what it found counts."""
        until = time.monotonic() + within_s
        with self._changed:
            self._over = True
            self._changed.notify()
        try:
            self._process.wait(max(until - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(5)
        if self.state.exit_code is None:
            self.state.exit_code = ExitCode.DEVIATES if self.state.deviations else ExitCode.HARNESS_ERROR
            self.state.sentence = (
                f"The judge was ended after {self.state.packets:,} packets, before it had seen all: "
                "judge a recording (--record) with mqconform replay."
            )
        return self.state

    def _hand_on(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            while True:
                with self._changed:
                    while not self._queue and not self._over:
                        self._changed.wait()
                    blocks = []
                    size = 0
                    while self._queue and size < _AT_ONCE:
                        blocks.append(self._queue.popleft())
                        size += len(blocks[-1])
                if not blocks:
                    return
                pipe.write(b"".join(blocks))
                pipe.flush()
                with self._changed:
                    self._waiting -= size + _BLOCK * len(blocks)
        except OSError:
            return  # The judge is gone; `end` tells.
        finally:
            with suppress(OSError):
                pipe.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = self.state.take(json.loads(line))
            if found is not None and self._on_deviation is not None:
                self._on_deviation(found)


def child_environment() -> dict[str, str]:
    """Return variables with which a child process finds this package, even in a checkout that is not installed."""
    root = Path(__file__).resolve().parents[2]
    path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH", "")]))
    installed = root.name in {"site-packages", "dist-packages"}
    return {**os.environ, "PYTHONUNBUFFERED": "1"} | ({} if installed else {"PYTHONPATH": path})
