"""A step: an object, a call and its answer go in; the object, the verdicts and the choices left open come out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from conformance.activex.expected import Demand, Held, Invoke, Readings, Seen, codes_of, demands
from conformance.activex.tables import CLASSES, STATES, after
from conformance.activex.values import E_FAIL, S_OK, Variant, failed, numbers, same
from conformance.spec.followed_readings import either
from conformance.verdict import Outcome, Verdict, held

_NAMES = frozenset({"PathName", "FormatName"})


def new(coclass: str) -> Held:
    """Return an object that the client has just created."""
    state = STATES[coclass].new
    if state is None:
        raise ValueError(f"no client creates a {coclass}")
    return Held(coclass, state)


def step(held: Held, call: Invoke, seen: Seen, readings: Readings) -> tuple[Held, tuple[Verdict, ...]]:
    """Judge an answer. Returns the object as the call has left it, and a verdict on each requirement that has a say."""
    name = f"{held.coclass}.{call.member}"
    subject = name if call.kind == "method" else f"{call.kind} {name}"
    return moved(held, call, seen), tuple(verdicts(subject, demands(held, call, seen, readings), seen))


def moved(held: Held, call: Invoke, seen: Seen) -> Held:
    """Return the object as a call has left it: a refused call changes nothing."""
    if seen.status != S_OK:
        return held
    member = CLASSES[held.coclass][call.member]
    name = f"put {member.name}" if call.kind == "put" else member.name
    values, former = dict(held.values), held.former
    if call.kind == "put" and member.kept_as is not None:
        if held.coclass == "MSMQQueueInfo" and member.name in _NAMES:
            values.pop("QueueFormatName", None)
            values.pop("PathName", None)
        if member.kept_as in values:
            former = {**former, member.kept_as: values[member.kept_as]}
        values[member.kept_as] = call.arguments[-1]
    state = after(held.coclass, held.state, name) if call.kind in ("put", "method") else held.state
    if held.coclass == "MSMQQueueInfo" and call.member == "Delete":
        values = {}
    return Held(held.coclass, state, values, held.also, former)


REFUSED: Final = "refused"


def called(calls: Mapping[str, str], name: str, call: Invoke, seen: Seen) -> Mapping[str, str]:
    """Return the last call of each object that may have changed it. A call that failed is REFUSED."""
    if call.kind == "get":
        return calls
    return {**calls, name: REFUSED if failed(seen.status) else call.member}


def verdicts(subject: str, found: Iterable[Demand], seen: Seen) -> Iterator[Verdict]:
    """Yield a verdict on each requirement of some demands."""
    for demand in found:
        for name in demand.requirements:
            if demand.holds:
                yield held(name, subject, demand.readings)
            else:
                yield Verdict(name, Outcome.FAIL, subject, demand.expected, seen.to_json(), demand.readings)


ANY_FAILURE: Final = -1
ANY_STATUS: Final = -2
"""Statuses of options that stand for several HRESULTs."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Values that are not known beforehand. holds: tells one that is right; sample: one of them; said: in words."""

    sample: Variant
    holds: Callable[[Variant], bool]
    said: str


@dataclass(frozen=True, slots=True)
class Option:
    """One answer. status: an HRESULT, ANY_FAILURE or ANY_STATUS. value: None where it does not matter.

    blames: a wrong status to the requirements that it breaks before those of `names`.
    """

    names: tuple[str, ...]
    status: int = S_OK
    value: Variant | Shape | None = None
    readings: tuple[tuple[str, str], ...] = ()
    blames: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def holds(self, seen: Seen) -> bool:
        """Tell whether an answer is this one."""
        if self.status == ANY_FAILURE:
            return failed(seen.status)
        if self.status not in (ANY_STATUS, seen.status):
            return False
        if self.value is None:
            return True
        shown = seen.value or Variant("EMPTY")
        return self.value.holds(shown) if isinstance(self.value, Shape) else same(self.value, shown)

    def to_json(self) -> dict[str, Any]:
        """Return what was expected, for a verdict."""
        words = {ANY_FAILURE: "a failing HRESULT", ANY_STATUS: "any"}
        out: dict[str, Any] = {"status": words.get(self.status, self.status)}
        if isinstance(self.value, Shape):
            out["value"] = self.value.said
        elif self.value is not None:
            out["value"] = self.value.to_json()
        return out


Choice = tuple[Option, ...]


def one(names: Iterable[str], status: int = S_OK, value: Variant | Shape | None = None) -> Choice:
    """Return a choice of one option, without readings."""
    return (Option(tuple(names), status, value),)


def refused(names: Iterable[str], status: int) -> Iterator[Choice]:
    """Yield the choices of a refusal: that it fails, and with this code."""
    every = tuple(names)
    codes = codes_of(every)
    yield one((name for name in every if name not in codes), ANY_FAILURE)
    yield tuple(Option(codes, number, readings=follows) for number, follows in numbers(codes, status))


def reference_answer(choices: Iterable[Choice]) -> Seen:
    """Return the answer that takes the first option of every choice."""
    status, value = S_OK, None
    for option in (choice[0] for choice in choices if choice):
        if option.status == ANY_FAILURE:
            status = status or E_FAIL
        elif option.status != ANY_STATUS:
            status = option.status
        if option.value is not None:
            value = option.value.sample if isinstance(option.value, Shape) else option.value
    return Seen(status, None if failed(status) else value)


def allowed(choice: Choice, readings: Readings) -> Choice:
    """Return a choice without the options whose readings are not accepted."""
    return tuple(
        option for option in choice if all(word in readings.get(name, (word,)) for name, word in option.readings)
    )


def fitting(choice: Choice, seen: Seen) -> tuple[Option, ...]:
    """Return the options of a choice that an answer fits."""
    return tuple(option for option in choice if option.holds(seen))


def assumed(options: Iterable[Option]) -> tuple[tuple[str, str], ...]:
    """Return the readings that explain an answer which fits each of the options; several alternatives as one."""
    each = [dict(option.readings) for option in options]
    common = [name for name in each[0] if all(name in one for one in each)]
    return tuple((name, either(dict.fromkeys(one[name] for one in each))) for name in common)


def choice_verdicts(coclass: str, call: Invoke, choices: Iterable[Choice], seen: Seen) -> Iterator[Verdict]:
    """Yield a verdict on each requirement that has a say."""
    subject = f"{coclass}.{call.member}" if call.kind == "method" else f"{call.kind} {coclass}.{call.member}"
    for choice in choices:
        fits = fitting(choice, seen)
        if fits:
            followed = assumed(fits)
            yield from (held(name, subject, followed) for name in fits[0].names)
        elif choice:
            options = [option.to_json() for option in choice]
            expected = options[0] if len(options) == 1 else {"any of": options}
            first = next((names for status, names in choice[0].blames if status == seen.status), ())
            for name in dict.fromkeys((*first, *choice[0].names)):
                yield Verdict(name, Outcome.FAIL, subject, expected, seen.to_json(), choice[0].readings)
