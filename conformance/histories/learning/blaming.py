"""Judge a word by the whole model: does its answer break a requirement, or does another reading allow it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING

from conformance.harness.recorder import ConformanceFailure, RunOptions
from conformance.histories.driver_side import Driving
from conformance.histories.examples import REAL_EXPIRY_MS
from conformance.histories.inference.probing import Probe, Step, contradicted
from conformance.histories.operations.operation import Manner
from conformance.histories.operations.table import OPERATIONS
from conformance.model import BadCall, Call
from conformance.model.values import replace
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port

MAX_CHOICES = 1024
"""Combinations of readings that are tried. The readings that a word asks for have two or three alternatives each."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A word as the judge sees it. verdict: the broken requirement, None if accepted readings allow the answers.

    story: a line for each call. seen: the calls and answers. asked: the readings that decide them.
    """

    verdict: Verdict | None
    story: tuple[str, ...]
    seen: tuple[Step, ...] = ()
    asked: frozenset[str] = frozenset()


def judge(client: Port, options: RunOptions, calls: Sequence[Call]) -> Judgement:
    """Make the calls once more and judge them."""
    probe = Probe(client, options)
    failure: Verdict | None = None
    try:
        _make(probe, probe.driving, calls)
    except BadCall:
        pass  # it answers otherwise now, or the model knows no such call: what came before is judged
    except ConformanceFailure as found:
        failure = found.verdict
    finally:
        probe.driving.leave()
    evidence = probe.evidence("word", failure)
    return Judgement(failure, evidence.story, evidence.seen, evidence.asked)


def _make(probe: Probe, driving: Driving, calls: Sequence[Call]) -> None:
    for call in calls:
        if call.timeout_ms and OPERATIONS[call.method].manner is Manner.READ:
            probe.expire(call if driving.virtual else replace(call, timeout_ms=REAL_EXPIRY_MS))
        else:
            probe.do(call)


def explains(choice: Mapping[str, str], judgement: Judgement) -> bool:
    """Tell whether one alternative of each reading allows the answers of a word."""
    one = next(iter(choice))
    return contradicted(judgement.seen, {name: (way,) for name, way in choice.items()}, one, choice[one]) is None


def settled(
    judgements: Sequence[Judgement], accepted: Mapping[str, tuple[str, ...]], choice: Mapping[str, str]
) -> dict[str, str]:
    """Return the choice of readings that explains most words; of several, the one with the fewest changes."""
    asked = sorted(frozenset().union(*(one.asked for one in judgements)) & set(choice))
    open_ones = [reading for reading in asked if len(accepted[reading]) > 1]
    best, most = dict(choice), (-1, 0)
    for ways in islice(product(*(accepted[reading] for reading in open_ones)), MAX_CHOICES):
        tried = {**choice, **dict(zip(open_ones, ways, strict=True))}
        changes = sum(tried[reading] != choice[reading] for reading in open_ones)
        found = sum(explains(tried, one) for one in judgements), -changes
        if found > most:
            best, most = tried, found
    return best
