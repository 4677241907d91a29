"""Tries faults on the examples of a suite in this process: for suites whose examples are fixed and end to end too many.

The examples are played once to the embedded manager without a fault, and what it answered is kept. With a fault each is
played again, call by call, until an answer differs; only such an example is judged. An example without a different
answer has the verdicts it had, so the result is that of a whole run, at the cost of the calls alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from itertools import count, product
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, Final, Self

import pytest

from conformance.activex.tables import MEMBERS
from conformance.adapter.protocol import Hello
from conformance.adapter.session import Result
from conformance.embedded.driver import PROTOCOLS, EmbeddedDriver, Managers
from conformance.embedded.faults.base import Fault
from conformance.embedded.manager import Parts
from conformance.explaining.playing import quick_folder
from conformance.files import write_text
from conformance.harness.recorder import RunOptions
from conformance.harness.repro_files import NotRepeatable, examples_of
from conformance.harness.suite_registry import suites
from conformance.run_options import RunRequest
from conformance.spec.catalogue import assignment, requirement
from conformance.spec.versions import DEFAULT_PROFILE, LEVELS
from conformance.verdict import Outcome, Verdict

UNIQUE: Final = "taped"
"""The word for names of every example: each begins with a reset, and the calls of a tape are the same every time."""
CRASH: Final = " (crash)"
_EVENTS: Final = "events"
"""On a tape, in the place of a method: a look at the events that have come."""
_READING_SET: Final = "windows"
ENOUGH: Final = 30
"""Examples in a row that fail and show nothing new, after which a fault is known well enough."""
_BY_SECTION: Final[Mapping[str, frozenset[str]]] = {
    section: frozenset(row.name for row in MEMBERS for slot in row.slots if slot.section == section)
    for section in {slot.section for row in MEMBERS for slot in row.slots}
}
_OF_CLASSES: Final = frozenset({"__module__", "__doc__", "__dict__", "__weakref__", "__slots__", "__annotations__"})


class Port:
    """The embedded manager with some faults, as a `harness.port.Port`. tape: the calls so far, with their answers."""

    keeps_state = False  # nothing restarts it

    def __init__(
        self,
        faults: Sequence[str] = (),
        profile: str = DEFAULT_PROFILE,
        *,
        parts: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin with a manager. faults: by name. parts: of the manager instead, for faults that have no name there."""
        self._folder = quick_folder()
        self._faults, self._profile, self._numbers = tuple(faults), profile, count()
        self._parts = parts
        self._driver: EmbeddedDriver | None = None
        self.tape: list[Call] = []
        self._come: list[dict[str, Any]] = []
        self.time = _Still()
        self.renew()
        hello = self.call("hello", versions=list(PROTOCOLS), harness="mqconform", state_dir="").values
        self.hello = Hello.from_json(hello)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()
        self._folder.cleanup()

    def renew(self) -> None:
        """Begin with a new manager, which counts its handles and identifiers from the start, and an empty tape."""
        self._end()
        folder = Path(self._folder.name, str(next(self._numbers)))
        folder.mkdir()
        parts = None if self._parts is None else Parts(**self._parts)
        managers = Managers(self._faults, profile=self._profile, parts=parts)
        self._driver = EmbeddedDriver(folder, registry=managers)
        self.tape, self._come = [], []
        self._driver.on_event = self._come.append

    def _end(self) -> None:
        driver, self._driver = self._driver, None
        if driver is not None:
            with suppress(Exception):  # of a fault
                driver.close()

    def unique(self) -> str:
        return UNIQUE

    def offers(self, method: str, /) -> bool:
        return self.hello.offers(method)

    def need(self, kind: str, /, *names: str) -> None:
        """Take everything: the embedded manager does."""

    def start(self, method: str, /, **params: Any) -> Call:
        call = Call(self.tape, len(self.tape), method, params)
        self.tape.append(call)
        if method == _EVENTS:
            call.answer([{"arguments": [], **event} for event in self._come])
            self._come.clear()
            return call
        params = {name: value for name, value in params.items() if name != "deadline_ms"}
        assert self._driver is not None
        self._driver.handle(method, params, call.answer)
        return call

    def call(self, method: str, /, **params: Any) -> Result:
        return self.start(method, **params).result()

    def wait_blocked_or_done(self, call: Call, /, within_ms: int) -> bool:
        return True

    def wait_done(self, call: Call, /, within_ms: int) -> bool:
        return call.done

    def poll(self, within_ms: int = 0) -> None:
        """Do nothing: the manager acts during calls."""

    def told_events(self, within_ms: int = 0) -> list[dict[str, Any]]:
        """Return the events since the last look. They are on the tape, so that a fault of events is seen."""
        return list(self.start(_EVENTS).raw)

    def directory(self, do: str, /, **params: Any) -> dict[str, Any]:
        raise NotImplementedError("examples that are tried so have no directory outside the manager")

    def restart(self, *, kill: bool) -> bool:
        raise NotImplementedError("examples that are tried so do not restart the manager")


@dataclass(slots=True)
class Call:
    """A call with its answer, None until there is one. at: the number of calls made when it was answered."""

    tape: Sequence[Call] = field(repr=False)
    id: int
    method: str
    params: Mapping[str, Any]
    raw: Any = None
    at: int = 0

    @property
    def done(self) -> bool:
        return self.raw is not None

    @property
    def done_at_once(self) -> bool:
        """True if nothing else was called before it was answered."""
        return self.at == self.id + 1

    @property
    def blocked(self) -> bool:
        return self.raw is None

    def answer(self, raw: Any) -> None:
        self.raw, self.at = raw, len(self.tape)

    def result(self) -> Result:
        return Result.from_json(self.raw)


class _Still:
    """A clock that stands: the manager has its own."""

    def monotonic(self) -> float:
        return 0.0

    def sleep(self, seconds: float, /) -> None:
        """Wait for nothing."""


@dataclass(frozen=True, slots=True)
class Taped:
    """An example. test: of the suite. repro: what plays it again. calls: as played without a fault.

    ran: the functions of the manager that ran in it. members: those that were called.
    """

    test: str
    repro: Mapping[str, Any]
    calls: tuple[Call, ...]
    ran: frozenset[CodeType]
    members: frozenset[str]


@dataclass(slots=True)
class _Heard:
    """Stands for a test's recorder: keeps each example with its calls."""

    port: Port
    options: RunOptions
    test: str = ""
    examples: list[Taped] = field(default_factory=list)
    repro: Mapping[str, Any] | None = None
    ran: set[CodeType] = field(default_factory=set)
    evidence: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    disabled: frozenset[str] = frozenset()
    until: float = float("inf")

    @property
    def readings(self) -> Mapping[str, tuple[str, ...]]:
        """The readings of the options."""
        return self.options.readings

    @property
    def profile(self) -> str:
        """The MSMQ version of the options."""
        return self.options.profile

    def begin_example(self, kind: str, data: Mapping[str, Any]) -> None:
        self.end_example()
        self.port.renew()
        self.repro = {"kind": kind, **data}

    def end_example(self) -> None:
        if self.repro is not None:
            calls = tuple(self.port.tape)
            members = frozenset(name for call in calls for name in _called(call))
            self.examples.append(Taped(self.test, self.repro, calls, frozenset(self.ran), members))
        self.repro = None
        self.ran.clear()

    def called(self, frame: FrameType, event: str, _: object) -> None:
        """Note a function that is called; of `sys.setprofile`."""
        if event == "call":
            self.ran.add(frame.f_code)

    def step_told(self, *told: object) -> None:
        """Drop a line of the story: nobody reads it."""

    def step(self, *told: object) -> None:
        """Drop a line of the story."""

    def record(self, *verdicts: Verdict) -> None:
        """Drop the verdicts: without a fault they hold."""


def _called(call: Call) -> Iterator[str]:
    member = call.params.get("member")
    yield from call.params.get("members", ()) if member is None else (member,)


def taped(suite: str, profile: str = DEFAULT_PROFILE, *, module: str = "") -> tuple[Taped, ...]:
    """Play every example of a suite to the manager without a fault. Its tests take `mq`, `judge` and `mq_need`.

    module: play those of this test module alone.
    """
    with Port(profile=profile) as port:
        heard = _Heard(port, _options(profile, "must"))
        for name, test, arguments in _tests(suite, module):
            heard.test = name
            sys.setprofile(heard.called)
            try:
                with suppress(pytest.skip.Exception):
                    test(**arguments, mq=port, judge=heard, mq_need=lambda *methods: None)
            finally:
                sys.setprofile(None)
            heard.end_example()
        return tuple(heard.examples)


def _tests(suite: str, only: str = "") -> Iterator[tuple[str, Callable[..., None], dict[str, Any]]]:
    for path in suites()[suite]:
        if only not in ("", path.stem):
            continue
        module = import_module(f"conformance.suites.{suite}.{path.stem}")
        for name, test in vars(module).items():
            if not name.startswith("test_"):
                continue
            marks = [mark.args for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
            for chosen in product(*(rows for _, rows in marks)):
                values = {argument: row.values[0] for (argument, _), row in zip(marks, chosen, strict=True)}
                yield f"{path.stem}::{name}[{'-'.join(str(row.id) for row in chosen)}]", test, values


def failures(
    suite: str, examples: Iterable[Taped], fault: Fault, *, profile: str = DEFAULT_PROFILE, level: str = "must"
) -> dict[str, str]:
    """Return the requirements that a fault breaks, with the test of each, in the order in which runs show them.

    Each run switches off what the one before has shown, and a test ends at its first failure. The search ends where
    ENOUGH examples one after another have shown nothing new. A requirement whose example the fault ends with an
    exception has CRASH behind its name, as in the record of a run.
    """
    first: dict[str, list[str]] = {}
    with Port((fault.name,), profile) as port:
        old = 0
        for (found, *_), test in shown_by(suite, touched(examples, fault), port, profile=profile, level=level):
            known = any(found in each for each in first.values())
            first.setdefault(test, []).append(found)
            old = old + 1 if known else 0
            if old == ENOUGH:
                break
    return _in_rounds(first)


def shown_by(
    suite: str, examples: Iterable[Taped], port: Port, *, profile: str = DEFAULT_PROFILE, level: str = "must"
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the requirements that each example blames, with its test, for those that show the port's fault.

    A requirement whose example the fault ends with an exception has CRASH behind its name.
    """
    again = examples_of(suite)
    options = _options(profile, level)
    for one in examples:
        try:
            port.renew()
            if _agrees(one, port):
                continue
            port.renew()
            found = tuple(_failed(again(one.repro, port, options), level))
        except NotRepeatable:  # the fault keeps the story from being told
            continue
        except Exception as error:  # of the fault: it is a crash of the driver
            found = (f"{type(error).__name__}{CRASH}",)
        if found:
            yield found, one.test


def touched(examples: Iterable[Taped], fault: Fault) -> list[Taped]:
    """Return the examples that run what a fault replaces, and call a member of which it breaks a requirement.

    Where a fault breaks what belongs to no member, that it runs is enough.
    """
    replaced, members = _replaced(fault.replaces), _members(fault.breaks)
    return [
        one
        for one in examples
        if not replaced.isdisjoint(one.ran) and (not members or not one.members or members & one.members)
    ]


def _members(requirements: Iterable[str]) -> frozenset[str]:
    """Return the members to whose sections requirements belong; none if one belongs to no member."""
    found = [_BY_SECTION.get(name.partition("-")[2].rpartition(".")[0], frozenset()) for name in requirements]
    return frozenset().union(*found) if all(found) else frozenset()


def _replaced(parts: Iterable[tuple[str, type]]) -> frozenset[CodeType]:
    """Return the functions in whose place a fault has others; all of the class where it changes other things."""
    found: set[CodeType] = set()
    for part, deviating in parts:
        present = getattr(Parts(), part)
        for name, value in _own(deviating, present):
            there = getattr(present, name, None)
            if isinstance(there, FunctionType) and isinstance(value, FunctionType):
                found.add(there.__code__)
            elif there is not None and there != value:
                found.update(one.__code__ for one in _functions(present))
    return frozenset(found)


def _functions(present: type) -> Iterator[FunctionType]:
    """Yield the functions of a class: its own alone where one of them runs whenever an object of it is made."""
    for one in (present,) if "__init__" in vars(present) else present.__mro__:
        yield from (value for value in vars(one).values() if isinstance(value, FunctionType))


def _own(deviating: type, present: type) -> Iterator[tuple[str, object]]:
    for one in deviating.__mro__:
        if one not in present.__mro__:
            ours = vars(one).items()
            yield from ((name, value) for name, value in ours if name not in _OF_CLASSES)


def _agrees(one: Taped, port: Port) -> bool:
    """Play the calls of an example again, up to the first answer that differs."""
    made: list[Call] = []
    for call in one.calls:
        made.append(port.start(call.method, **call.params))
        if call.done_at_once and made[-1].raw != call.raw:
            return False
    return all(now.raw == then.raw and now.at == then.at for now, then in zip(made, one.calls, strict=True))


def _failed(verdicts: Iterable[Verdict], level: str) -> Iterator[str]:
    for verdict in verdicts:
        binding = LEVELS.index(requirement(verdict.requirement).level) <= LEVELS.index(level)
        if verdict.outcome is Outcome.FAIL and binding:
            yield verdict.requirement


def _in_rounds(found: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return what each round shows: the first of every test that no round before has shown."""
    seen: dict[str, str] = {}
    while True:
        fresh: dict[str, str] = {}
        for test, each in found.items():
            name = next((one for one in each if one not in seen), None)
            if name is not None:
                fresh.setdefault(name, test)
        if not fresh:
            return seen
        seen |= fresh


def _options(profile: str, level: str) -> RunOptions:
    asked = RunRequest()
    readings = assignment(_READING_SET)
    return RunOptions(profile, level, readings, _READING_SET, asked.seed, asked.max_examples, asked.steps)


def write(suite: str, levels: Mapping[str, str], out: str) -> None:
    """Try faults on the examples of a suite and write what each is seen as: a line for each, as it is known.

    levels: fault to the level of requirements that count. out: the file.
    """
    from conformance.embedded.faults import EVERY_FAULT

    by_profile: dict[str, tuple[Taped, ...]] = {}
    lines: list[str] = []
    for name, level in levels.items():
        fault = EVERY_FAULT[name]
        profile = fault.profile or DEFAULT_PROFILE
        if profile not in by_profile:
            by_profile[profile] = taped(suite, profile)
        found = failures(suite, by_profile[profile], fault, profile=profile, level=level)
        lines.append(json.dumps([name, list(found)]) + "\n")
        write_text(Path(out), "".join(lines))  # whole each time, in case a later fault ends this process
