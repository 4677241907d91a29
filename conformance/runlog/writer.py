"""Writes one part of a run record: one event a line, handed to the operating system before the method returns.

Each line is one `write` to a descriptor opened for appending, so that killing the process loses nothing already
written. There is no `fsync`: a power failure is not what a test run has to survive, and it costs milliseconds a line.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any

from conformance.runlog.events import (
    FORMAT,
    MAX_LINE,
    REFUTING,
    Footer,
    Header,
    PacketLine,
    RunRecordError,
    StoryStep,
    now,
)
from conformance.runlog.tally import Tally
from conformance.verdict import Json, Verdict

MAX_TEXT = 64 << 10
"""Characters kept of a remark or of a driver's stderr: the end, where the cause stands."""

_WORKER = re.compile(r"[A-Za-z0-9_-]{1,32}")


class RunWriter:
    """The writer of `run-<worker>.ndjson` in `folder`, which is made if it is missing.

    A context manager; every method may be called from any thread. `header` comes first and `footer` last, at most
    once each. Raises RunRecordError when the folder or file cannot be written, or already holds this part.
    """

    def __init__(self, folder: Path, worker: str = "main") -> None:
        if not _WORKER.fullmatch(worker):
            raise ValueError(f"{worker!r} is no worker name")
        path = Path(folder) / f"run-{worker}.ndjson"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        except FileExistsError:
            what = f"already holds {path.name}" if path.parent.is_dir() else "is not a folder"
            raise RunRecordError(
                f"The output folder {folder} {what}; name another folder, records are never overwritten."
            ) from None
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise RunRecordError(
                f"The output folder {folder} cannot be written ({reason}); name another one."
            ) from None
        self._begin(path, worker, fd)

    def _begin(self, path: Path, worker: str, fd: int) -> None:
        self.worker = worker
        self.path = path
        self._fd: int | None = fd
        self._lock = threading.Lock()
        self._next = 0
        self._headed = False
        self._footed = False
        self._counts: Counter[str] = Counter()
        self._requirements: set[str] = set()
        self._pending: dict[tuple[str, str], str] = {}

    @property
    def counts(self) -> Mapping[str, int]:
        """Verdicts that stand by outcome name, repetitions included."""
        return dict(self._counts + Counter(self._pending.values()))

    @property
    def requirements(self) -> frozenset[str]:
        """Requirements this part has a verdict for."""
        return frozenset(self._requirements)

    def header(self, header: Header) -> None:
        """Write the first line."""
        self._write({"event": "header", "format": FORMAT, "worker": self.worker, **header.to_json()})

    def hello(self, hello: Mapping[str, Json], epoch: int = 1) -> None:
        """The implementation introduced itself, for the first time or after a restart."""
        self._write({"event": "hello", "at": now(), "epoch": epoch, "hello": dict(hello)})

    def verdict(
        self,
        verdict: Verdict,
        *,
        suite: str,
        test: str,
        count: int = 1,
        epoch: int | None = None,
        provisional: bool = False,
    ) -> str:
        """Record a verdict seen `count` times; returns its id, which a story refers to.

        provisional: a failure as first seen, kept in case nothing comes after. A later refuting verdict of the same
        test and requirement takes its place.
        """
        name = self._name("v")
        with self._lock:
            self._requirements.add(verdict.requirement)
            if provisional:
                self._pending[test, verdict.requirement] = verdict.outcome.value
            else:
                self._counts[verdict.outcome.value] += count
                if verdict.outcome in REFUTING:
                    self._pending.pop((test, verdict.requirement), None)
        event = {"event": "verdict", "id": name, **verdict.to_json(), "suite": suite, "test": test, "count": count}
        if epoch is not None:
            event["epoch"] = epoch
        if provisional:
            event["provisional"] = True
        self._write(event)
        return name

    def evidence(self, kind: str, data: Mapping[str, Json], ref: str | None = None) -> str:
        """Store evidence in full; returns its id: `ref`, or a new one."""
        name = ref or self._name("e")
        self._write({"event": "evidence", "id": name, "kind": kind, "data": dict(data)})
        return name

    def story(self, verdict: str, steps: Iterable[StoryStep], repro: str | None = None) -> None:
        """How the verdict of this id came about, and the path of its repro file."""
        told = [step.to_json() for step in steps]
        self._write({"event": "story", "verdict": verdict, "steps": told, "repro": repro})

    def packet(self, packet: PacketLine) -> None:
        """One packet of a replay."""
        self._write({"event": "packet", **packet.to_json()})

    def progress(self, text: str) -> None:
        """How far the run is."""
        self._write({"event": "progress", "at": now(), "text": _tail(text)})

    def note(self, text: str) -> None:
        """A remark that a reader of the report should see."""
        self._write({"event": "note", "at": now(), "text": _tail(text)})

    def driver(
        self,
        what: str,
        text: str,
        *,
        epoch: int | None = None,
        returncode: int | None = None,
        stderr: str | None = None,
    ) -> None:
        """Something happened to the driver: `crash`, `timeout`, `restart`, `stop` or `unusable`."""
        tail = None if stderr is None else _tail(stderr)
        self._write(
            {
                "event": "driver",
                "at": now(),
                "what": what,
                "text": _tail(text),
                "epoch": epoch,
                "returncode": returncode,
                "stderr": tail,
            }
        )

    def tally(self, tally: Tally) -> None:
        """How many judgements rules and phases made since the last time this was written; a reader adds them up."""
        self._write({"event": "tally", **tally.to_json()})

    def took(self, tests: Mapping[str, int]) -> None:
        """How many milliseconds tests took."""
        self._write({"event": "took", "tests": dict(tests)})

    def footer(
        self,
        stop_reason: str,
        *,
        stateful_steps: int = 0,
        steps_per_second: float | None = None,
        examples: int = 0,
    ) -> Footer:
        """Write the last line; counts and requirements judged are this writer's own."""
        footer = Footer(
            stop_reason=stop_reason,
            counts=self.counts,
            requirements_judged=len(self._requirements),
            stateful_steps=stateful_steps,
            steps_per_second=steps_per_second,
            examples=examples,
        )
        self._write({"event": "footer", **footer.to_json()})
        return footer

    def close(self) -> None:
        """Close the file. A part closed without `footer` is incomplete, and says so to its reader."""
        with self._lock:
            fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _name(self, letter: str) -> str:
        with self._lock:
            self._next += 1
            return f"{self.worker}-{letter}{self._next}"

    def _write(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        line = _line(event)
        with self._lock:
            if self._fd is None:
                raise ValueError("the run record is closed")
            if self._footed:
                raise ValueError(f"{kind} after the footer")
            if (kind == "header") == self._headed:
                raise ValueError("the header is written once, and before anything else")
            self._headed = True
            self._footed = kind == "footer"
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(self._fd, rest) :]
            except OSError as error:
                raise RunRecordError(
                    f"The run record {self.path} cannot be written ({error.strerror}); what it holds is kept."
                ) from None


def _line(event: dict[str, Any]) -> bytes:
    """One line. What would be longer than a reader takes is replaced by its size and digest."""
    try:
        line = _encode(event)
    except RecursionError:
        event = {name: _shallow(name, member) for name, member in event.items()}
        line = _encode(event)
    if len(line) <= MAX_LINE:
        return line
    # Largest member first; the short ones that identify the event are never reached.
    for name in sorted(event, key=lambda member: len(_encode(event[member])), reverse=True):
        whole = _encode(event[name])
        size = {"omitted_bytes": len(whole), "sha256": hashlib.sha256(whole).hexdigest()}
        event = {**event, name: _omitted(name, event[name], size)}
        line = _encode(event)
        if len(line) <= MAX_LINE:
            break
    return line


def _shallow(name: str, member: Any) -> Any:
    """The member, or what stands for it when it is nested too deep to be written."""
    try:
        _encode(member)
    except RecursionError:
        if name == "steps":
            return [{"text": step["text"]} for step in member]
        return _omitted(name, None, {"omitted": "nested too deep"})
    return member


def _omitted(name: str, value: Any, size: dict[str, Any]) -> Any:
    """What stands for a member that was too long, in the shape that a reader expects of this member."""
    if isinstance(value, str):
        return f"({size['omitted_bytes']} bytes omitted)"
    if name == "steps":
        return [{"text": f"({size['omitted_bytes']} bytes of steps omitted)"}]
    if name == "evidence":
        return {"kind": "omitted", "ref": "omitted", "data": size}
    return size


def _encode(value: Any) -> bytes:
    try:
        text = json.dumps(value, separators=(",", ":"), default=_plain, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), separators=(",", ":"), default=_plain, allow_nan=False)
    return text.encode("ascii") + b"\n"


def _plain(value: Any) -> Any:
    """The JSON shape of what verdicts and evidence are made of."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in a run record")


def _finite(value: Any) -> Any:
    """The same value with NaN and the infinities, which JSON does not have, as text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {key: _finite(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(member) for member in value]
    return value


def _tail(text: str) -> str:
    dropped = len(text) - MAX_TEXT
    return text if dropped <= 0 else f"({dropped} characters before this were dropped) {text[-MAX_TEXT:]}"
