"""Writes one part of a run record: sealed lines, passed to the operating system one by one."""

from __future__ import annotations

import json
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple
from zlib import crc32

from conformance.files import make_folder
from conformance.runlog.counts import Tally
from conformance.runlog.cutting import encode, event_lines
from conformance.runlog.events import (
    FORMAT,
    MAX_LINE,
    CaptureLine,
    DriverEvent,
    Footer,
    Header,
    PacketLine,
    RunRecordError,
    StoryStep,
    now,
    replaces_provisional,
)
from conformance.verdict import Json, Verdict

SEALED_BY = "crc32"
"""The value of the header's member `sealed`."""
_MEMBER = b',"seal":"'
_TAIL = len(_MEMBER) + 8 + len(b'"}\n')


class Chain(NamedTuple):
    """The checksum of a part's lines so far. value: their CRC-32. lines: their number."""

    value: int = 0
    lines: int = 0

    def after(self, body: bytes) -> Chain:
        """Return the chain with one more line. body: its object as JSON, without its seal."""
        return Chain(crc32(body, self.value), self.lines + 1)

    @property
    def seal(self) -> str:
        """The seal of the last line."""
        return f"{self.value:08x}"

    def sealed(self, body: bytes) -> bytes:
        """Return the last line as written to the file. body: its object as JSON, without its seal."""
        return b"".join((body[:-1], _MEMBER, self.seal.encode("ascii"), b'"}\n'))

    def checked(self, line: bytes) -> Chain:
        """Return the chain with a line read from the file. Raises ValueError when its seal is wrong."""
        begin = max(0, len(line) - _TAIL)
        value = crc32(b"}", crc32(memoryview(line)[:begin], self.value))
        found = Chain(value, self.lines + 1)
        if line[begin:] != b"".join((_MEMBER, found.seal.encode("ascii"), b'"}\n')):
            raise ValueError("its checksum does not fit: it was changed, or a line before it is gone")
        return found


def is_sealed(line: bytes) -> bool:
    """True if a line has a seal, right or wrong."""
    return line[-_TAIL:].startswith(_MEMBER)


def parsed(line: bytes) -> dict[str, Any]:
    """Parse the object of a line. Raises ValueError or RecursionError if it is not one, or has a name twice."""
    value = _DECODER.decode(line.decode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        raise ValueError("a line that is not an object")
    return value


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name that is given twice")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_each_once)


class Line(NamedTuple):
    """One line of a file. number: from 1. begin: its offset in bytes. ended: False if its line end is missing."""

    number: int
    begin: int
    text: bytes
    ended: bool


def lines(file: Path) -> Iterator[Line]:
    """Yield the lines of a file. Raises RunRecordError when it cannot be read, or a line is too long."""
    try:
        with file.open("rb") as stream:
            number = begin = 0
            while text := stream.readline(MAX_LINE + 1):
                number += 1
                if len(text) > MAX_LINE:
                    raise RunRecordError(f"{file} is not a run record: line {number} is longer than any it can hold.")
                yield Line(number, begin, text, text.endswith(b"\n"))
                begin += len(text)
    except OSError as error:
        raise RunRecordError(f"The run record {file} cannot be read ({error.strerror}).") from None


MAX_CAPTURES = 256 << 10
"""Bytes of capture paths in one line."""
_WORKER = re.compile(r"[A-Za-z0-9_-]{1,32}")


class RunWriter:
    """The writer of `run-<worker>.ndjson` in `folder`, which is made if missing.

    It is a context manager that writes the footer if an exception leaves the block before that. Every method may be
    called from any thread. `header` comes first and `footer` last, at most once each. Raises RunRecordError when the
    folder or file cannot be written, or the folder already has this part.
    """

    def __init__(self, folder: Path, worker: str = "main") -> None:
        if not _WORKER.fullmatch(worker):
            raise ValueError(f"{worker!r} is not a worker name")
        path = Path(folder) / f"run-{worker}.ndjson"
        try:
            make_folder(path.parent)
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
        self._chain = Chain()
        self._size = 0
        self._trying: tuple[Chain, int, str] | None = None  # the line being written: chain and size with it, event
        self._counts: Counter[str] = Counter()
        self._requirements: set[str] = set()
        self._pending: dict[tuple[str, str], str] = {}
        self._lost: RunRecordError | None = None
        self.on_lost: Callable[[RunRecordError], None] | None = None
        """Called when an event cannot be written, before the error is raised."""

    @property
    def counts(self) -> Mapping[str, int]:
        """Number of verdicts by outcome name, repetitions included, without replaced provisional failures."""
        return dict(self._counts + Counter(self._pending.values()))

    @property
    def requirements(self) -> frozenset[str]:
        """The requirements that this part has a verdict for."""
        return frozenset(self._requirements)

    def header(self, header: Header) -> None:
        """Write the first line; captures that do not fit follow in further lines."""
        members = header.to_json()
        first, *more = _shares(members["captures"])
        begin = {"event": "header", "format": FORMAT, "sealed": SEALED_BY, "worker": self.worker}
        self._write({**begin, **members, "captures": first})
        for share in more:
            self._write({"event": "captures", "captures": share})

    def hello(self, hello: Mapping[str, Json], epoch: int = 1) -> None:
        """Record the implementation's answer to `hello`, the first one or one after a restart."""
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
        replaces: str | None = None,
    ) -> str:
        """Record a verdict seen `count` times. Returns its id, which a story refers to.

        provisional: a failure before it is shrunk, kept in case the run ends there. A later refuting verdict of the
        same test and requirement replaces it. replaces: another requirement, whose provisional failure was seen to be
        this one.
        """
        name = self._name("v")
        with self._lock:
            self._requirements.add(verdict.requirement)
            if provisional:
                self._pending[test, verdict.requirement] = verdict.outcome.value
            else:
                self._counts[verdict.outcome.value] += count
                if replaces_provisional(verdict):
                    self._pending.pop((test, verdict.requirement), None)
                    self._pending.pop((test, replaces or ""), None)
        event = {"event": "verdict", "id": name, **verdict.to_json(), "suite": suite, "test": test, "count": count}
        if epoch is not None:
            event["epoch"] = epoch
        if provisional:
            event["provisional"] = True
        if replaces is not None:
            event["replaces"] = replaces
        self._write(event)
        return name

    def evidence(self, kind: str, data: Mapping[str, Json], ref: str | None = None) -> str:
        """Store evidence in full. Returns its id: `ref`, or a new one."""
        name = ref or self._name("e")
        self._write({"event": "evidence", "id": name, "kind": kind, "data": dict(data)})
        return name

    def story(self, verdict: str, steps: Iterable[StoryStep], repro: str | None = None) -> None:
        """Record the story of the verdict with this id, and the path of its repro file."""
        members = [step.to_json() for step in steps]
        self._write({"event": "story", "verdict": verdict, "steps": members, "repro": repro})

    def packet(self, packet: PacketLine) -> None:
        """Record one packet of a replay."""
        self._write({"event": "packet", **packet.to_json()})

    def capture(self, capture: CaptureLine) -> None:
        """Record the result of reading one capture of a replay."""
        self._write({"event": "capture", **capture.to_json()})

    def progress(self, text: str) -> None:
        """Record the progress of the run."""
        self._write({"event": "progress", "at": now(), "text": text})

    def note(self, text: str) -> None:
        """Record a remark that readers of the report should see."""
        self._write({"event": "note", "at": now(), "text": text})

    @property
    def footed(self) -> bool:
        """True once the footer is written: nothing comes behind it."""
        return self._footed

    def driver(
        self,
        what: str,
        text: str,
        *,
        epoch: int | None = None,
        returncode: int | None = None,
        stderr: str | None = None,
    ) -> None:
        """Record an event of the driver; what: see `DriverEvent`."""
        event = DriverEvent(now(), what, text, epoch, returncode, stderr)
        self._write({"event": "driver", **event.to_json()})

    def tally(self, tally: Tally) -> None:
        """Record the judgements of rules and phases since the last tally; a reader adds them up."""
        self._write({"event": "tally", **tally.to_json()})

    def took(self, tests: Mapping[str, int]) -> None:
        """Record how many milliseconds tests took."""
        self._write({"event": "took", "tests": dict(tests)})

    def check(self) -> None:
        """Raise the error of an event that could not be written, if there was one."""
        if self._lost is not None:
            raise self._lost

    def footer(
        self,
        stop_reason: str,
        *,
        stateful_steps: int = 0,
        steps_per_second: float | None = None,
        examples: int = 0,
    ) -> Footer:
        """Write the last line, with the counts and the number of judged requirements of this part.

        The footer of the part `main`, which is written after all others, lists all parts of the run.
        """
        footer = Footer(
            stop_reason=stop_reason,
            counts=self.counts,
            requirements_judged=len(self._requirements),
            stateful_steps=stateful_steps,
            steps_per_second=steps_per_second,
            examples=examples,
        )
        self._write({"event": "footer", **footer.to_json(), **self._parts()})
        return footer

    def _parts(self) -> dict[str, Json]:
        if self.worker != "main":
            return {}
        names = (path.name for path in self.path.parent.glob("run-*.ndjson"))
        return {"parts": sorted(name.removeprefix("run-").removesuffix(".ndjson") for name in names)}

    def close(self) -> None:
        """Close the file. Readers report a part that was closed without `footer` as incomplete."""
        with self._lock:
            fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self._headed and not self._footed:
            with suppress(RunRecordError, ValueError):
                self.footer("interrupted" if isinstance(error, KeyboardInterrupt) else "error")
        self.close()

    def _name(self, letter: str) -> str:
        with self._lock:
            self._next += 1
            return f"{self.worker}-{letter}{self._next}"

    def _write(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        found = [] if kind == "footer" else list(event_lines(event))
        with self._lock:
            if self._fd is None:
                raise ValueError("the run record is closed")
            lost = None
            try:
                if self._recovered(self._fd) == kind in ("header", "footer"):
                    return  # It was written before a signal arrived.
                self._check(kind)
                self._headed = True
                if kind == "footer":
                    chain = {"lines": self._chain.lines + 1, "chain": self._chain.seal}
                    found = [encode({**event, **chain})]
                for body in found:
                    self._append(self._fd, body, kind)
                self._footed = kind == "footer"
            except OSError as error:
                with suppress(OSError):
                    self._recovered(self._fd)
                lost = self._lost = RunRecordError(
                    f"The run record {self.path} cannot be written ({error.strerror}); what it holds is kept."
                )
                self._headed = kind != "header"
        if lost is not None:
            if self.on_lost is not None:
                self.on_lost(lost)
            raise lost

    def _check(self, kind: str) -> None:
        if self._footed:
            raise ValueError(f"{kind} after the footer")
        if self._lost is not None and not (self._headed and kind == "footer"):
            raise self._lost
        if (kind == "header") == self._headed:
            raise ValueError("the header is written once, and before anything else")
        if self._headed and not self._chain.lines:
            raise RunRecordError(f"The run record {self.path} could not be begun, and so nothing is recorded in it.")

    def _append(self, fd: int, body: bytes, kind: str) -> None:
        chain = self._chain.after(body)
        line = chain.sealed(body)
        self._trying = chain, self._size + len(line), kind
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(fd, rest) :]
        self._chain, self._size, _ = self._trying
        self._trying = None

    def _recovered(self, fd: int) -> str | None:
        """Complete or remove a line whose writing ended early by a signal or a full disk. Returns its event if written.

        An incomplete line is removed.
        """
        if self._trying is None:
            return None
        chain, size, kind = self._trying
        written = os.fstat(fd).st_size == size
        if written:
            self._chain, self._size = chain, size
            self._footed = kind == "footer"
        else:
            os.ftruncate(fd, self._size)
        self._trying = None
        return kind if written else None


def _shares(captures: Sequence[str]) -> list[list[str]]:
    """Split the paths, in order, into shares that fit a line; at least one share."""
    shares: list[list[str]] = [[]]
    size = 0
    for path in captures:
        size += len(encode(path)) + 1
        if size > MAX_CAPTURES and shares[-1]:
            shares.append([])
            size = len(encode(path)) + 1
        shares[-1].append(path)
    return shares
