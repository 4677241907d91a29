"""Quirks of a baseline: what can be used, and a sentence about each that cannot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from conformance import __version__
from conformance.explaining.known_quirks import tables, usable

PRIORITY = "MQMQ-2.2.19.1.higher-priority-nearer-front"
TABLE: Mapping[str, Any] = {
    "version": __version__,
    "requirement": PRIORITY,
    "faults": ["ignores-priority"],
    "story": ["send 'a' to q1 -> ok"],
    "calls": '[{"method": "messages.send"}]',
}


def test_what_a_run_has_met_is_used_again() -> None:
    met = {"requirement": PRIORITY, "faults": ["ignores-priority"], "story": ["s"], "calls": [{"method": "m"}]}
    bodyless = {**met, "faults": []}
    (quirk,), told = usable(tables([met, met, bodyless]))
    assert (quirk.requirement, quirk.faults, quirk.story) == (PRIORITY, ("ignores-priority",), ("s",))
    assert quirk.calls == ({"method": "m"},) and told == ()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": "0.0.1"}, "of version '0.0.1'"),
        ({"version": None}, "of version None"),
        ({"faults": ["ignores-prioritie"]}, "no fault 'ignores-prioritie'; did you mean ignores-priority"),
        ({"faults": []}, "names no faults"),
        ({"requirement": "MQMQ-1.no"}, "no requirement 'MQMQ-1.no'"),
        ({"calls": "{"}, "not JSON"),
        ({"calls": "[1]"}, "no list of calls"),
        ({"story": "s"}, "no list of texts"),
        ({"body": 1}, "unknown member 'body'"),
    ],
)
def test_a_quirk_that_cannot_be_used_is_told_in_one_sentence(change: Mapping[str, Any], why: str) -> None:
    (other,), told = usable([{**TABLE, **change}, {**TABLE, "calls": "[]"}])
    assert other.faults == ("ignores-priority",)
    (sentence,) = told
    assert sentence.startswith("The quirk 1 of the baseline is not used: ") and why in sentence
    assert sentence.endswith(".") and not sentence.endswith(("..", "?."))


def test_quirks_that_contradict_each_other_are_both_left_out() -> None:
    left, told = usable([TABLE, {**TABLE, "faults": ["last-gives-first"]}])
    assert left == () and len(told) == 1 and PRIORITY in told[0]
    assert usable([TABLE, TABLE])[1] == ()
