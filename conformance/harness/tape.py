"""Record the calls and answers of each example, so that it can be judged again without the implementation.

A tape is divided where an example begins. The run record stores examples that fail, and the first example that gave
each verdict. It also stores the calls of a test before its first example: later calls use the queues they made.
"""

from __future__ import annotations

import json
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import compress, decompressobj
from zlib import error as zlib_error

from conformance.adapter.errors import AdapterError, NotAccepted
from conformance.adapter.session import Result
from conformance.harness.text_bounds import SHORT, cut
from conformance.runlog.cutting import MAX_EVENT
from conformance.runlog.events import StoryStep, Told
from conformance.runlog.writer import parsed
from conformance.spec.constants.codes import status_text
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import PendingCall

T = TypeVar("T")
Key = tuple[str, Outcome, tuple[tuple[str, str], ...]]

KINDS = frozenset(
    {
        "alive",
        "calls",
        "create-accepted",
        "create-name",
        "create-restart",
        "dialogue",
        "given-out",
        "hostile-name",
        "label",
        "name",
        "objects",
        "open",
        "open-name",
        "packet",
        "properties",
        "story",
        "structure",
        "text",
        "walk",
    }
)
"""Kinds of examples that can be judged again with the same calls. Calls of concurrent clients depend on the clock."""
RPC = "remote"
"""The kind of calls of RPC."""
ON_THE_NETWORK = frozenset({"dialogue", "walk", RPC})
"""The kinds that are played to a queue manager on its network."""
MAX_OPS = 2_000  # ops of one example; a walk makes a few dozen calls
MAX_EXAMPLE = MAX_EVENT
"""Bytes of an example in the run record. A longer one keeps no further answers."""
MAX_BEFORE = 200  # ops of a test before its first example
LONG_MS = 1.0
MAX_STORY = 100


@dataclass(slots=True)
class Op:
    """One operation on the client, with everything that happened until the next one.

    what: `call`, `start`, `restart`, `events`, `directory` or `unique`. request: the number of a call made without
    waiting. ended, blocked: earlier calls, by number, that were answered or reported to wait. took_ms: its duration.
    slept_ms: the time that the test let pass before it.
    """

    what: str
    method: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    refused: str | None = None
    request: int | None = None
    ended: list[tuple[int, Any]] = field(default_factory=list)
    blocked: list[int] = field(default_factory=list)
    took_ms: float = 0.0
    slept_ms: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the op as the run record stores it; absent members are left out."""
        out: dict[str, Any] = {"what": self.what}
        if self.method:
            out |= {"method": self.method, "params": dict(self.params)}
        if self.result is not None:
            out["result"] = self.result.to_json() if self.what == "call" else self.result
        for name in ("refused", "request"):
            if getattr(self, name) is not None:
                out[name] = getattr(self, name)
        if self.ended:
            out["ended"] = [[number, how if isinstance(how, str) else how.to_json()] for number, how in self.ended]
        if self.blocked:
            out["blocked"] = self.blocked
        if self.took_ms >= LONG_MS:
            out["took_ms"] = round(self.took_ms, 1)
        if self.slept_ms:
            out["slept_ms"] = self.slept_ms
        return out


@dataclass(slots=True, eq=False)
class Example:
    """One recorded example. kind, data: for its repro file. said: its verdicts. whole: the recording is complete.

    wanted: worth storing. size: bytes of its texts and answers.
    """

    kind: str
    data: Mapping[str, Any]
    before: list[Op]
    ops: list[Op] = field(default_factory=list)
    said: list[Verdict] = field(default_factory=list)
    whole: bool = True
    wanted: bool = False
    size: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the data needed to judge the example again, and its verdicts."""
        once = {key(verdict): verdict for verdict in self.said}
        return {
            "repro": {"kind": self.kind, **self.data},
            "before": [op.to_json() for op in self.before],
            "ops": [op.to_json() for op in self.ops],
            "verdicts": [verdict_json(verdict) for verdict in once.values()],
        }


_PLAIN = ("suite", "test", "verdict")


def packed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of an example with all members but its place compressed, as the run record stores it.

    A longer example stays as it is: the record cuts it, and `judge` names the reason.
    """
    rest = {name: value for name, value in data.items() if name not in _PLAIN}
    body = json.dumps(rest, default=str, separators=(",", ":")).encode("ascii")
    if len(body) > MAX_EXAMPLE:
        return dict(data)
    text = b64encode(compress(body)).decode("ascii")
    return {name: data[name] for name in _PLAIN if name in data} | {"packed": text}


def unpacked(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the data of a stored example; without its members where they cannot be unpacked.

    Records of earlier versions hold it unpacked.
    """
    text = data.get("packed")
    if not isinstance(text, str):
        return data
    try:
        body = decompressobj().decompress(b64decode(text, validate=True), MAX_EXAMPLE)
        return {**parsed(body), **{name: data[name] for name in _PLAIN if name in data}}
    except (ValueError, zlib_error, RecursionError):
        return {name: data[name] for name in _PLAIN if name in data}


class Tape:
    """Tape of one test. keep: called with each example worth storing, once it is over."""

    def __init__(self, had: set[Key], keep: Callable[[Example], None]) -> None:
        """had: keys of the verdicts on examples already stored in this run; extended by this tape."""
        self._had = had
        self._keep = keep
        self._before: list[Op] = []
        self._open: dict[int, PendingCall] = {}
        self._waits: set[int] = set()
        self._told = True
        self._slept = 0.0
        self.example = Example("", {}, [])

    def begin(self, kind: str, data: Mapping[str, Any]) -> None:
        """Begin an example and end the one before it."""
        if not self.example.kind:
            self._before = self.example.ops[-MAX_BEFORE:]
        self.end()
        self._told = kind != "calls" or "calls" in data
        self.example = Example(kind, data, self._before)

    def slept(self, seconds: float) -> None:
        """Note that the test lets time pass."""
        self._slept += seconds

    def end(self) -> None:
        """End the example and store it if it is wanted and whole."""
        example = self.example
        if example.wanted and example.whole:
            example.wanted = False
            self._keep(example)

    def take_over(self, played: Example) -> None:
        """Take the calls of the example from the tape of another client."""
        self.example.ops, self.example.whole, self.example.size = played.ops, played.whole, played.size

    def untold(self) -> None:
        """Note that the rest of the example cannot be judged again."""
        self._told = False

    def said(self, verdict: Verdict) -> None:
        """Add a verdict on the example. A verdict that no stored example has makes this one worth storing."""
        example = self.example
        if example.kind not in KINDS or not self._told:
            return
        example.said.append(verdict)
        what = verdict.requirement, verdict.outcome, verdict.readings  # its `key`, without a call: this is done often
        if what not in self._had and example.whole:
            self._had.add(what)
            example.wanted = True

    def story(self) -> tuple[StoryStep, ...]:
        """Return the last MAX_STORY calls and answers as a story, for a test that writes none."""
        ops = [*self._before, *self.example.ops][-MAX_STORY:]
        return tuple(_step(op) for op in ops)

    def taking(self, what: str, method: str, params: Mapping[str, Any], act: Callable[[], T]) -> T:
        """Run `act` and record the operation with its result."""
        op = Op(what, method, params, slept_ms=round(self._slept * 1000))
        self._slept = 0.0
        self.example.size += sum(len(value) for value in params.values() if isinstance(value, str))
        if self.example.size > MAX_EXAMPLE:
            self.example.whole = False
            op.params = cut(params, SHORT)
        self._note(op)
        began = time.perf_counter()
        try:
            result = act()
        except NotAccepted as lacking:
            op.refused = lacking.what
            raise
        except AdapterError:
            self.example.whole = False
            raise
        op.took_ms = (time.perf_counter() - began) * 1000
        op.result = self._kept(result)
        return result

    def started(self, call: PendingCall) -> None:
        """Note that the last recorded call was sent without waiting for its answer."""
        if self.example.ops:
            op = self.example.ops[-1]
            op.request, op.result = call.id, None
        self._open[call.id] = call
        self.settle()

    def settle(self) -> None:
        """Record which outstanding calls were answered or blocked since the last time."""
        if not self._open or not self.example.ops:
            return
        last = self.example.ops[-1]
        for number, call in list(self._open.items()):
            if call.done:
                del self._open[number]
                try:
                    last.ended.append((number, self._kept(call.result())))
                except NotAccepted as lacking:
                    last.ended.append((number, lacking.what))
            elif call.indeterminate:
                del self._open[number]
            elif call.blocked and number not in self._waits:
                self._waits.add(number)
                last.blocked.append(number)

    def _kept(self, result: Any) -> Any:
        """Return the result, or its status alone once the example is too long to be stored."""
        example = self.example
        example.size += getattr(result, "size", 0)
        if example.size <= MAX_EXAMPLE or not isinstance(result, Result):
            return result
        example.whole = False
        return Result(result.status, {}, None)

    def _note(self, op: Op) -> None:
        ops = self.example.ops
        if len(ops) < MAX_OPS:
            ops.append(op)
        elif self.example.kind:
            self.example.whole = False
        else:
            del ops[0]
            ops.append(op)


def key(verdict: Verdict) -> Key:
    """Return the key by which verdicts are counted."""
    return verdict.requirement, verdict.outcome, verdict.readings


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return the key of a verdict as a tape stores it."""
    name, outcome, readings = key(verdict)
    return {"requirement": name, "outcome": outcome.value, "readings": dict(readings)}


def said_key(stored: Mapping[str, Any]) -> Key:
    """Return the key from its stored form: the inverse of `said`."""
    return str(stored["requirement"]), Outcome(stored["outcome"]), tuple(sorted(stored["readings"].items()))


def _step(op: Op) -> StoryStep:
    """Return one line of a story."""
    given = ", ".join(f"{name}={value!r:.60}" for name, value in op.params.items())
    asked = f"{op.method or op.what}({given})"
    came: str | None = None
    if op.refused is not None:
        came = f"not offered: {op.refused}"
    elif isinstance(op.result, Result) and op.result.status is not None:
        came = "ok" if op.result.ok else status_text(op.result.status)
    told = Told(asked, came)
    return StoryStep(told.text, {"method": op.method or op.what, "params": op.params}, parts=told.parts)
