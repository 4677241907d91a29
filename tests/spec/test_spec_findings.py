"""The register of findings: every suspicion disposed of exactly once, with a reason."""

from __future__ import annotations

import pytest

from conformance.spec.catalogue import (
    CatalogueError,
    SpecFinding,
    catalogue,
    finding,
    findings,
    reading_of_finding,
    undisposed,
    unexpected,
)
from conformance.spec.entries import suspicions


def test_there_are_256_suspicions() -> None:
    assert len(set(suspicions())) == 155 + 101
    assert {suspicions()[0], suspicions()[-1]} == {"D01", "Q101"}


def test_every_suspicion_is_disposed_of() -> None:
    # That none stands twice is checked where the register is read.
    assert undisposed() == ()
    assert unexpected() == ()


def test_what_is_left_out_or_made_up_is_noticed() -> None:
    names = {*suspicions(), "N-word"}
    assert (undisposed(names), unexpected(names)) == ((), ())
    assert undisposed(names - {"D07"}) == ("D07",)
    assert unexpected([*names, "D156"]) == ("D156",)


def test_every_finding_ends_in_a_reading_or_without_one() -> None:
    for one in findings().values():
        without = reading_of_finding(one) is None  # also: none is merged in a circle
        assert without or one.disposition in ("reading", "merged"), one.id


def test_merging_is_followed_and_a_circle_refused() -> None:
    name = next(iter(catalogue().readings))
    known = {
        "D01": SpecFinding("D01", "a", ("MQMQ-1",), "merged", "w", into="D02"),
        "D02": SpecFinding("D02", "b", ("MQMQ-1",), "reading", "w", reading=name),
        "D03": SpecFinding("D03", "c", ("MQMQ-1",), "merged", "w", into="D04"),
        "D04": SpecFinding("D04", "d", ("MQMQ-1",), "merged", "w", into="D03"),
        "D05": SpecFinding("D05", "e", ("MQMQ-1",), "merged", "w", into=name),
        "D06": SpecFinding("D06", "f", ("MQMQ-1",), "editorial", "w"),
    }
    wanted = catalogue().readings[name]
    assert [reading_of_finding(known[id_], known) for id_ in ("D01", "D02", "D05", "D06")] == [
        wanted,
        wanted,
        wanted,
        None,
    ]
    with pytest.raises(CatalogueError, match="circle"):
        reading_of_finding(known["D03"], known)


def test_an_unknown_finding_names_the_nearest() -> None:
    with pytest.raises(CatalogueError, match="no finding D999"):
        finding("D999")
