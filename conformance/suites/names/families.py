"""Families of generated names: one requirement judges a family, and at most one reading disputes each name in it.

A family varies the subject of its requirement and keeps the rest plain, so that a refused name tells the broken demand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis.strategies import SearchStrategy

from conformance.harness.hypothesis_settings import from_options
from conformance.judge.names import (
    ILLEGAL_FORMAT_NAME,
    ILLEGAL_PATH_NAME,
    ONLY,
    PATH_NAME,
    Expectation,
    NameCase,
)
from conformance.spec.catalogue import catalogue, reading_id, requirement_id
from conformance.spec.versions import applies, rank
from conformance.suites.names.cases import presupposition, section
from conformance.suites.names.checks import Need, alive, inconclusive, observe, send

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

Parts = Mapping[str, Any]
REFUSED = Expectation(False)
SHARE = 0.25  # of the run's examples for each of the many families


@dataclass(frozen=True, slots=True)
class Family:
    """Generated names of one requirement. cases: by MSMQ version (1 to 6), the strategy that makes them.

    accepting, refusing: some reading may accept, or refuse, one of them. since, until: the profiles it is for.
    """

    number: str
    rule: str
    requirement: str
    cases: Callable[[int], SearchStrategy[NameCase]]
    accepting: bool
    refusing: bool
    reading: str | None = None
    since: str | None = None
    until: str | None = None

    def binds(self, profile: str) -> bool:
        """Return True if its names are for this MSMQ version."""
        return applies(profile, self.since, self.until)

    def claims(self) -> tuple[str, ...]:
        """Return the requirements its names may judge."""
        form = section(self.number).form
        code = ILLEGAL_PATH_NAME if form == PATH_NAME else ILLEGAL_FORMAT_NAME
        told = (requirement_id(f"MQMQ-{self.number}.kind"), requirement_id(f"MQMQ-{self.number}.parts"))
        return (self.requirement, *(told if self.accepting else ()), *((code,) if self.refusing else ()))


@dataclass(slots=True)
class Chapter:
    """The families of one section of MS-MQMQ 2.1, collected by its methods. kind: of its names, if they share one.

    Each method takes the last word of the requirement, the rule of the grammar, and `make`, which returns the strategy
    for an MSMQ version.
    """

    number: str
    form: str
    kind: str | None = None
    families: list[Family] = field(default_factory=list)

    def accept(
        self,
        word: str,
        rule: str,
        make: Callable[[int], SearchStrategy[tuple[str, Parts]]],
        *,
        kind: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> None:
        """Add names (text, parts) that every reading accepts."""
        taken = kind or self.kind

        def expected(parts: Parts) -> Mapping[str, tuple[Expectation, ...]]:
            return {ONLY: (Expectation(True, taken, parts),)}

        self._add(word, rule, make, expected, (True, False), None, since, until)

    def reject(
        self,
        word: str,
        rule: str,
        make: Callable[[int], SearchStrategy[str]],
        *,
        since: str | None = None,
        until: str | None = None,
    ) -> None:
        """Add texts that no reading accepts."""

        def pairs(version: int) -> SearchStrategy[tuple[str, None]]:
            return make(version).map(lambda text: (text, None))

        self._add(word, rule, pairs, lambda _: {ONLY: (REFUSED,)}, (False, True), None, since, until)

    def disputed(
        self,
        word: str,
        rule: str,
        reading: str,
        make: Callable[[int], SearchStrategy[tuple[str, Mapping[str, Parts | Sequence[Parts] | None]]]],
        *,
        kind: str | None = None,
        since: str | None = None,
        until: str | None = None,
        given: tuple[str, tuple[str, ...]] | None = None,
    ) -> None:
        """Add texts, each with the result under each alternative of a reading: parts, or a list of permitted parts.

        None means refused; an empty table means accepted with any parts. A member `kind` among the parts
        overrides the kind of the section. given: see `NameCase`.
        """
        known = catalogue().readings[reading_id(reading)]
        taken = kind or self.kind

        def one(parts: Parts | None) -> Expectation:
            if parts is None:
                return REFUSED
            members = dict(parts)
            told = members.pop("kind", taken)
            return Expectation(True, told, members or None)

        def expected(under: Mapping[str, Any]) -> Mapping[str, tuple[Expectation, ...]]:
            if set(under) != set(known.alternatives):
                raise ValueError(f"{word}: {reading} has the alternatives {', '.join(known.alternatives)}")
            return {
                name: tuple(map(one, wanted)) if isinstance(wanted, list) else (one(wanted),)
                for name, wanted in under.items()
            }

        self._add(word, rule, make, expected, (True, True), reading, since, until, given)

    def _add(
        self,
        word: str,
        rule: str,
        make: Callable[[int], SearchStrategy[tuple[str, Any]]],
        expected: Callable[[Any], Mapping[str, tuple[Expectation, ...]]],
        may: tuple[bool, bool],
        reading: str | None,
        since: str | None,
        until: str | None,
        given: tuple[str, tuple[str, ...]] | None = None,
    ) -> None:
        demand = requirement_id(f"MQMQ-{self.number}.{word}")
        kind, parts = requirement_id(f"MQMQ-{self.number}.kind"), requirement_id(f"MQMQ-{self.number}.parts")

        supposed = presupposition(*given) if given else None

        def case(example: tuple[str, Any]) -> NameCase:
            text, wanted = example
            return NameCase(
                text, self.form, rule, demand, kind, parts, expected(wanted), reading, since, until, supposed
            )

        def cases(version: int) -> SearchStrategy[NameCase]:
            return make(version).map(case)

        self.families.append(Family(self.number, rule, demand, cases, *may, reading, since, until))


def parameters(families: Sequence[Family]) -> list[Any]:
    """Return pytest parameters: each family, marked with the requirements it may judge."""
    params = []
    for family in families:
        versions = "-".join(each.removeprefix("msmq-") for each in (family.since, family.until) if each)
        name = "-".join(
            part
            for part in (
                family.requirement.split(".")[-1],
                family.reading and family.reading.removeprefix("R-MQMQ-"),
                versions,
            )
            if part
        )
        params.append(pytest.param(family, id=name, marks=pytest.mark.requirement(*family.claims())))
    return params


def version_of(profile: str) -> int:
    """Return the MSMQ version of a profile: 1 to 6."""
    return rank(profile) + 1


def explore(family: Family, mq: Port, judge: Recorder, mq_need: Need, options: RunOptions) -> None:
    """Judge generated names of a family, and the valid name of its section before and after."""
    mq_need("names.parse")
    if not family.binds(judge.profile):
        judge.not_demanded(f"no name to judge it by in {judge.profile}")
    chosen = section(family.number)
    valid = {"text": chosen.control, "form": chosen.form}
    control = observe(mq.call("names.parse", **valid))
    if not control.accepted and family.refusing and not family.accepting:
        judge.record(inconclusive(family.requirement, f"the valid name {chosen.control} is refused too"))
        return
    if control.accepted:
        judge.looked("control")

    @from_options(options, share=SHARE)
    @given(family.cases(version_of(judge.profile)))
    def run(case: NameCase) -> None:
        judge.begin_example("name", {"case": case.to_json()})
        send(case, mq, judge)

    run()
    # If the valid name is refused by now, the story and the repro file hold the last name before it.
    alive(judge, family.requirement, valid, control, observe(mq.call("names.parse", **valid)))
