"""The suite of calls of RPC: its words are requirements, and a server whose faults are known is judged rightly."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.api import run
from conformance.live.proxy import addresses, served
from conformance.suites.remote.steps import identify
from conformance.suites.remote.stories import BY_NAME, claimed


def test_each_word_of_a_story_is_a_requirement_of_one_of_its_documents() -> None:
    found: dict[str, set[str | None]] = {}
    for calls, story in BY_NAME.values():
        for step in story.steps:
            for word in (*step.words, *step.looks):
                found.setdefault(word, set()).add(identify(calls, step.read_verb, word))
    assert [word for word, names in found.items() if names == {None}] == []


def test_each_story_judges_something() -> None:
    assert [name for name in BY_NAME if not claimed(name)] == []


FAULTS = {"share-ignored": "MQRR-3.1.4.2.deny-share", "managed-session": "MQMR-3.1.4.1.session"}
"""Some over a network; `test_remote_mutations` tries all in this process."""


@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_a_server_is_blamed_for_what_it_does_wrong(fault: str | None, tmp_path: Path) -> None:
    wanted = [FAULTS[fault]] if fault else [*FAULTS.values(), "MQQP-3.1.4.1.waits", "MQQP-3.1.4.11"]
    with served(addresses(2), fault, rpc=True) as adapter:
        record = run(adapter=adapter, suites=["remote"], requirements=wanted, out=tmp_path / "out").record
    assert record is not None
    outcomes = [(one.verdict.requirement, one.verdict.outcome.value) for one in record.verdicts]
    assert {"pass"} == {outcome for name, outcome in outcomes} or fault
    assert [name for name, outcome in outcomes if outcome == "fail"][:1] == ([FAULTS[fault]] if fault else [])
