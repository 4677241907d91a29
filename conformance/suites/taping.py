"""What was said between harness and implementation in one example, so that it can be judged again without either.

A tape is cut where an example begins. What is worth keeping goes to the run record: examples that fail, and the first
that gave each verdict. What a test did before its first example is kept with it: the queues it made are used later.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from conformance.adapter.errors import AdapterError, NotAccepted
from conformance.runlog.events import StoryStep
from conformance.spec.constants.hresults import name_of
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Call

T = TypeVar("T")
Key = tuple[str, Outcome, tuple[tuple[str, str], ...]]

KINDS = frozenset(
    {
        "alive",
        "calls",
        "create-name",
        "given-out",
        "hostile-name",
        "label",
        "name",
        "open",
        "open-name",
        "packet",
        "properties",
        "story",
        "structure",
        "text",
    }
)
"""Kinds of examples that `rejudge` makes the same calls for. What several clients do at once depends on the clock."""
MAX_OPS = 2_000  # of one example; a walk makes a few dozen calls
MAX_BEFORE = 200  # of a test before its first example
LONG_MS = 1.0
MAX_STORY = 100


@dataclass(slots=True)
class Op:
    """One thing asked of the client, and what came of it until the next.

    what: `call`, `start`, `restart` or `unique`. request: the number of a call that was not waited for. ended,
    blocked: calls made earlier that were answered, or said to wait, by number. took_ms: how long it took.
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

    def to_json(self) -> dict[str, Any]:
        """As the run record stores it; absent members are left out."""
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
        return out


@dataclass(slots=True, eq=False)
class Example:
    """One example. kind, data: what its repro file needs. said: the verdicts. whole: nothing is missing of it."""

    kind: str
    data: Mapping[str, Any]
    before: list[Op]
    ops: list[Op] = field(default_factory=list)
    said: list[Verdict] = field(default_factory=list)
    whole: bool = True
    wanted: bool = False

    def to_json(self) -> dict[str, Any]:
        """What is needed to judge it again, and what was said of it."""
        once = {key(verdict): verdict for verdict in self.said}
        return {
            "repro": {"kind": self.kind, **self.data},
            "before": [op.to_json() for op in self.before],
            "ops": [op.to_json() for op in self.ops],
            "verdicts": [said(verdict) for verdict in once.values()],
        }


class Tape:
    """The tape of one test. keep: called with each example worth keeping, once it is over."""

    def __init__(self, had: set[Key], keep: Callable[[Example], None]) -> None:
        """had: what was said by examples kept before, in this run."""
        self._had = had
        self._keep = keep
        self._before: list[Op] = []
        self._open: dict[int, Call] = {}
        self._waits: set[int] = set()
        self._told = True
        self.example = Example("", {}, [])

    def begin(self, kind: str, data: Mapping[str, Any]) -> None:
        """An example begins; the one before it is over."""
        if not self.example.kind:
            self._before = self.example.ops[-MAX_BEFORE:]
        self.end()
        self._told = kind != "calls" or "calls" in data
        self.example = Example(kind, data, self._before)

    def end(self) -> None:
        """The example is over."""
        example = self.example
        if example.wanted and example.whole:
            example.wanted = False
            self._keep(example)

    def untold(self) -> None:
        """The rest of the example is none that can be gone through again."""
        self._told = False

    def said(self, verdict: Verdict) -> None:
        """A verdict on the example. One that no example kept so far has given makes this one worth keeping."""
        example = self.example
        if example.kind not in KINDS or not self._told:
            return
        example.said.append(verdict)
        what = key(verdict)
        if what not in self._had and example.whole:
            self._had.add(what)
            example.wanted = True

    def story(self) -> tuple[StoryStep, ...]:
        """What was asked and answered since the test began, for a test that tells nothing of it."""
        ops = [*self._before, *self.example.ops][-MAX_STORY:]
        return tuple(StoryStep(_words(op), {"method": op.method or op.what, "params": op.params}) for op in ops)

    def taking(self, what: str, method: str, params: Mapping[str, Any], act: Callable[[], T]) -> T:
        """Do what is asked, and note what comes of it."""
        op = Op(what, method, params)
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
        op.result = result
        return result

    def started(self, call: Call) -> None:
        """The call just noted was sent, and nobody waits for it yet."""
        if self.example.ops:
            op = self.example.ops[-1]
            op.request, op.result = call.id, None
        self._open[call.id] = call
        self.settle()

    def settle(self) -> None:
        """Note which calls have been answered since the last time."""
        if not self._open or not self.example.ops:
            return
        last = self.example.ops[-1]
        for number, call in list(self._open.items()):
            if call.done:
                del self._open[number]
                try:
                    last.ended.append((number, call.result()))
                except NotAccepted as lacking:
                    last.ended.append((number, lacking.what))
            elif call.indeterminate:
                del self._open[number]
            elif call.blocked and number not in self._waits:
                self._waits.add(number)
                last.blocked.append(number)

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
    """What verdicts are told apart by when they are counted."""
    return verdict.requirement, verdict.outcome, verdict.readings


def said(verdict: Verdict) -> dict[str, Any]:
    """The same, as a tape stores it."""
    name, outcome, readings = key(verdict)
    return {"requirement": name, "outcome": outcome.value, "readings": dict(readings)}


def _words(op: Op) -> str:
    """One line of a story."""
    given = ", ".join(f"{name}={value!r:.60}" for name, value in op.params.items())
    asked = f"{op.method or op.what}({given})"
    if op.refused is not None:
        return f"{asked} -> not offered: {op.refused}"
    status = getattr(op.result, "status", None)
    if status is None:
        return asked
    return f"{asked} -> {'ok' if op.result.ok else name_of(status) or f'0x{status:08X}'}"
