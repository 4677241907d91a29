"""Stories: the taped operations of one example, each with the answer of the implementation, without what follows.

An example of a run record and the tape of a live history have the same form (`conformance.harness.tape.Op`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.harness.run_session import EXAMPLE
from conformance.harness.tape import Example
from conformance.runlog import Run
from conformance.spec.versions import DEFAULT_PROFILE, PROFILES
from conformance.verdict import Outcome

RawOp = Mapping[str, Any]
MAX_OPS = 2_000


@dataclass(frozen=True, slots=True)
class Told:
    """One taped example.

    before: operations of the test before the example; what they answered is not compared. ops: those of the example.
    kills: of each restart, whether it was a kill. failed: the requirements it broke. calls: the abstract calls, for a
    history.
    """

    suite: str
    ops: tuple[RawOp, ...]
    before: tuple[RawOp, ...] = ()
    kills: tuple[bool, ...] = ()
    failed: tuple[str, ...] = ()
    calls: tuple[Mapping[str, Any], ...] = ()

    @property
    def methods(self) -> frozenset[str]:
        """The methods that were called, and `restart`."""
        return frozenset(op.get("method") or str(op["what"]) for op in (*self.before, *self.ops))

    @property
    def shown(self) -> frozenset[str]:
        """The paths of all members that answers show."""
        answers = [op["result"] for op in self.ops if isinstance(op.get("result"), Mapping)]
        answers += [raw for op in self.ops for _, raw in op.get("ended", ()) if isinstance(raw, Mapping)]
        return frozenset(path for answer in answers for path in _paths("", answer))


@dataclass(frozen=True, slots=True)
class Implementation:
    """The members of its hello. readings: the alternatives that it follows, by reading."""

    profile: str = "msmq-4.0"
    computer: str = ""
    queue_manager: str = ""
    virtual: bool = True
    readings: Mapping[str, str] = field(default_factory=dict)


def stored(run: Run) -> Iterator[Told]:
    """Yield the examples of a run record that can be played; what is damaged is left out."""
    for evidence in run.evidence_of(EXAMPLE):
        try:
            told = _from_json(evidence.data)
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
        if told.ops:
            yield told


def once(stories: Sequence[Told]) -> list[Told]:
    """Return the stories without those that ask the same and were answered the same."""
    found: dict[str, Told] = {}
    for told in stories:
        key = repr([(op.get("method"), op.get("params"), op.get("result"), op.get("ended")) for op in told.ops])
        found.setdefault(key, told)
    return list(found.values())


def first_history(ops: Sequence[RawOp]) -> tuple[RawOp, ...]:
    """Return the operations up to the second reset: repetitions of a history are taped behind it."""
    for at, op in enumerate(ops):
        if at and op.get("method") == "reset":
            return tuple(ops[:at])
    return tuple(ops)


def taped(example: Example, suite: str, failed: str = "") -> Told | None:
    """Return the story of a live example; None if its tape is not whole, or if it is no history of calls."""
    calls = example.data.get("calls")
    if not example.whole or example.kind != "calls" or not isinstance(calls, list):
        return None
    ops = first_history([op.to_json() for op in example.ops])[:MAX_OPS]
    kills = tuple(bool(call.get("kill")) for call in calls if call.get("method") == "restart")
    return Told(suite, ops, kills=kills, failed=(failed,) if failed else (), calls=tuple(calls))


def implementation_of(hello: Mapping[str, Any], profile: str, followed: Mapping[str, str]) -> Implementation:
    """Return what an implementation told of itself. followed: readings that a run has shown, over those it claims."""
    claimed = hello.get("readings")
    readings = {str(name): str(chosen) for name, chosen in claimed.items()} if isinstance(claimed, Mapping) else {}
    return Implementation(
        profile=profile if profile in PROFILES else DEFAULT_PROFILE,
        computer=str(hello.get("computer") or ""),
        queue_manager=str(hello.get("queue_manager") or ""),
        virtual=hello.get("clock") == "virtual",
        readings={**readings, **followed},
    )


def _paths(path: str, value: Mapping[str, Any]) -> Iterator[str]:
    for name, member in value.items():
        below = f"{path}.{name}" if path else name
        yield below
        if isinstance(member, Mapping):
            yield from _paths(below, member)


def _from_json(data: Mapping[str, Any]) -> Told:
    repro = data["repro"]
    calls = tuple(repro.get("calls", ())) if repro.get("kind") == "calls" else ()
    failed = {str(said["requirement"]): None for said in data["verdicts"] if said["outcome"] == Outcome.FAIL.value}
    return Told(
        str(data["suite"]),
        first_history(data["ops"])[:MAX_OPS],
        () if calls else tuple(data["before"]),
        tuple(bool(call.get("kill")) for call in calls if call.get("method") == "restart"),
        tuple(failed),
        calls,
    )
