"""Each row that a story claims can fail: some answer, altered between the server and the judge, makes it do so."""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rpc_manager import HOST, OPTIONS, at_its_time, rpc_manager

from conformance.adapter.session import Result
from conformance.embedded.rpc.faults import FAULTS
from conformance.harness.repro_files import verdicts_of
from conformance.suites.remote.steps import HEADERS
from conformance.suites.remote.stories import BY_NAME, TABLE, claimed
from conformance.suites.story_table import Untold
from conformance.verdict import Outcome

_WORDS = (0, 1, 0xFFFFFFFF)
"""What is put in place of four octets, beside one more than they are."""
_FAULTS = (0xC00E0001, 0x000006F7, 0xC0000001, 0x1C010002)
_LATE_S = 60.0


@dataclass
class Told:
    """What a port has answered, by kind, in order. opnums: of the answers."""

    answers: list[Any] = field(default_factory=list)
    calls: list[tuple[str, int]] = field(default_factory=list)
    waits: list[bool] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)


class Recording:
    """A port that notes what another one answers."""

    hello = SimpleNamespace(computer=HOST)

    def __init__(self, port: Any) -> None:
        self.port, self.told, self.time = port, Told(), self
        self._interfaces: dict[str, str] = {}

    def call(self, method: str, **params: Any) -> Result:
        found: Result = self.port.call(method, **params)
        if method == "rpc.open":
            self._interfaces[found.values["association"]] = params["interface"]
        self._note(found, method, params)
        return found

    def start(self, method: str, **params: Any) -> Any:
        began = self.port.start(method, **params)
        self._note(began, method, params)
        return began

    def wait_done(self, call: Any, within_ms: int) -> bool:
        self.told.waits.append(self.port.wait_done(call, within_ms))
        return self.told.waits[-1]

    def monotonic(self) -> float:
        self.told.times.append(self.port.time.monotonic())
        return self.told.times[-1]

    def sleep(self, seconds: float) -> None:
        self.port.time.sleep(seconds)

    def moment(self) -> float:
        self.told.moments.append(self.port.time.time())
        return self.told.moments[-1]

    def offers(self, method: str) -> bool:
        return method != "reset"

    def _note(self, found: Any, method: str, params: dict[str, Any]) -> None:
        self.told.answers.append(found)
        of = (self._interfaces[params["association"]], params["opnum"]) if method == "rpc.call" else ("", 0)
        self.told.calls.append(of)


class Replay:
    """A port that answers the same again."""

    hello = SimpleNamespace(computer=HOST)

    def __init__(self, told: Told) -> None:
        self.told, self.time = told, self
        self._next = {name: iter(getattr(told, name)) for name in ("answers", "waits", "times", "moments")}

    def call(self, method: str, **params: Any) -> Any:
        return next(self._next["answers"])

    start = call

    def wait_done(self, call: Any, within_ms: int) -> Any:
        return next(self._next["waits"])

    def monotonic(self) -> Any:
        return next(self._next["times"])

    def moment(self) -> Any:
        return next(self._next["moments"])

    def sleep(self, seconds: float) -> None:
        pass

    def offers(self, method: str) -> bool:
        return method != "reset"


def settled(told: Told) -> Told:
    """Return what was told, with the answers of the calls that had been begun."""
    answers = [each if isinstance(each, Result) else SimpleNamespace(result=each.result) for each in told.answers]
    return replace(told, answers=answers)


def result_of(answer: Any) -> Result:
    found: Result = answer if isinstance(answer, Result) else answer.result()
    return found


def altered(told: Told, at: int, result: Result) -> Told:
    """Return what was told with another answer."""
    old = told.answers[at]
    new = result if isinstance(old, Result) else SimpleNamespace(result=lambda: result)
    return replace(told, answers=[*told.answers[:at], new, *told.answers[at + 1 :]])


def response(octets: bytes) -> Result:
    return Result(0, {"bytes": b64encode(octets).decode("ascii")}, None)


def coarse(result: Result, alike: list[Result]) -> Iterator[Result]:
    """Yield other answers to a call: with another status, and those that its method has given elsewhere."""
    yield from (Result(0, {"fault": status}, None) for status in _FAULTS)
    if "bytes" in result.values:
        octets = b64decode(result.values["bytes"])
        yield from (response(octets[:-4] + struct.pack("<I", each)) for each in (0, 1, 0xC00E0001, 0x40000001))
        yield from (response(octets[: len(octets) - less]) for less in (1, len(octets)))
    yield from (each for each in alike if each != result)
    sizes = {len(b64decode(each.values["bytes"])) for each in alike if "bytes" in each.values}
    yield from (response(bytes(size)) for size in sizes)


def fine(result: Result) -> Iterator[Result]:
    """Yield the answer with other octets in each place."""
    octets = b64decode(result.values.get("bytes", ""))
    for at in range(0, len(octets) - 3, 2):
        (old,) = struct.unpack_from("<I", octets, at)
        for new in (*_WORDS, old + 1 & 0xFFFFFFFF, old ^ 0x4000):
            if new != old:
                yield response(octets[:at] + struct.pack("<I", new) + octets[at + 4 :])


def of_time(told: Told) -> Iterator[Told]:
    """Yield what was told at other times: each answer late, at once, or never."""
    for at in range(len(told.times)):
        yield replace(told, times=[*told.times[:at], *(each + _LATE_S for each in told.times[at:])])
        yield replace(told, times=[*told.times[:at], *(told.times[at - 1] for _ in told.times[at:])])
    for at in range(len(told.waits)):
        yield replace(told, waits=[*told.waits[:at], not told.waits[at], *told.waits[at + 1 :]])


def failing(name: str, port: Any) -> str | None:
    """Return the requirement that a story fails on a port, None if it fails none."""
    try:
        with at_its_time(port):
            verdicts = verdicts_of(OPTIONS, partial(TABLE.tell, name, port))
    except (Untold, StopIteration, RuntimeError):
        return None
    return next((each.requirement for each in verdicts if each.outcome is Outcome.FAIL), None)


def mutants(told: Told, pool: dict[tuple[str, int], list[Result]], *, deep: bool) -> Iterator[Told]:
    """Yield what was told with one thing altered."""
    if not deep:
        yield from of_time(told)
    for at, of in reversed(list(enumerate(told.calls))):
        if of[0]:
            result = result_of(told.answers[at])
            others = fine(result) if deep else coarse(result, pool[of])
            yield from (altered(told, at, each) for each in others)


def tape(name: str, folder: Path, *faults: str) -> Told:
    """Return what the embedded planes answer in a story."""
    with rpc_manager(folder, *faults) as port:
        recording = Recording(port)
        wrong = failing(name, recording)
        assert wrong is None or faults, (name, wrong)
        return settled(recording.told)


@pytest.fixture(scope="module")
def tapes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    return {name: tape(name, tmp_path_factory.mktemp(f"story-{number}")) for number, name in enumerate(BY_NAME)}


def samples(tapes: Iterable[Told]) -> dict[tuple[str, int], list[Result]]:
    """Return some answers of each method: of each length and status, one."""
    found: dict[tuple[str, int], dict[object, Result]] = defaultdict(dict)
    for told in tapes:
        for of, answer in zip(told.calls, told.answers, strict=True):
            if of[0]:
                result = result_of(answer)
                octets = result.values.get("bytes", "")
                found[of].setdefault((result.values.get("fault"), len(octets), octets[-4:]), result)
    return {of: list(each.values()) for of, each in found.items()}


@pytest.mark.parametrize("fault", [name for name, fault in FAULTS.items() if not fault.unseen])
def test_a_fault_is_first_seen_as_what_it_breaks(fault: str, tmp_path: Path) -> None:
    breaks = FAULTS[fault].breaks
    for number, name in enumerate(name for name in BY_NAME if not set(breaks).isdisjoint(claimed(name))):
        (folder := tmp_path / str(number)).mkdir()
        with rpc_manager(folder, fault) as port:
            row = failing(name, port)
        if row is not None:
            assert row in breaks
            return
    pytest.fail("no story shows it")


def test_each_row_that_is_claimed_can_fail(tapes: dict[str, Told], tmp_path: Path) -> None:
    pool = samples((*tapes.values(), tape("MQRR-cut", tmp_path, "section-alone")))
    due = {row for name in BY_NAME for row in claimed(name)}.difference(HEADERS)
    """The rules of headers have mutations of their own, in the tests of `judge.packets`."""
    for deep in (False, True):
        for name, told in tapes.items():
            left = due.intersection(claimed(name))
            if not left:
                continue
            for mutant in mutants(told, pool, deep=deep):
                row = failing(name, Replay(mutant))
                if row is not None:
                    due.discard(row)
                    left.discard(row)
                if not left:
                    break
    assert sorted(due) == []
