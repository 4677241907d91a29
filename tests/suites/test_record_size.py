"""A record holds the first pass of a kind and counts the others, and its examples are compressed."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from conformance.adapter.connectors import connect
from conformance.harness.recorder import RunOptions
from conformance.harness.run_session import RunSession
from conformance.harness.tape import MAX_EXAMPLE, packed, unpacked
from conformance.runlog import Header, RunWriter, read_run
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome, Verdict

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 1, 1)
DATA = {
    "suite": "s",
    "test": "t",
    "verdict": "v1",
    "repro": {"label": "\ud800"},
    "ops": [{"what": "call"}],
    "verdicts": [],
}


def test_passes_of_a_kind_are_counted_and_each_test_is_in_the_record(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "out") as writer:
        writer.header(Header("r", connector="embedded", seed=0, profile="msmq-4.0", readings={}))
        session = RunSession(OPTIONS, "embedded", tmp_path, writer, lambda state: connect("embedded", state_dir=state))
        for test in ("a", "b", "c"):
            state = session.begin(test, "cursors", ())
            for subject in ("x", "y"):
                session.write(state, Verdict("MQDMPR-3.1.7.1.3.success", Outcome.PASS, subject), 5)
        state = session.begin("d", "cursors", ())
        session.write(state, Verdict("MQDMPR-3.1.7.1.3.success", Outcome.FAIL, "x"))
        session.write_tally()
        session.write_tally()
        writer.footer("completed")
    run = read_run(tmp_path / "out")
    assert run.footer is not None
    assert run.footer.counts == {"pass": 30, "fail": 1}
    found = [run.verdicts.at(number) for number, _ in run.numbered()]
    assert {one.test for one in found} == {"a", "b", "c", "d"}
    assert sum(one.count for one in found if one.verdict.outcome is Outcome.PASS) == 30
    assert len(found) == 2 + 2 + 1 + 1, "two kinds, a first verdict of two tests, the rest of one kind, a failure"


def test_an_example_comes_back_as_it_was() -> None:
    assert unpacked(packed(DATA)) == DATA
    assert len(json.dumps(packed({**DATA, "ops": [{"what": "call"}] * 1000}))) < 400
    assert unpacked(DATA) is DATA, "a record of an earlier version"
    long = {**DATA, "ops": [{"what": "x" * MAX_EXAMPLE}]}
    assert packed(long) == long, "the record cuts it, and tells"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "AAAA",
        base64.b64encode(zlib.compress(b"[1]")).decode(),
        base64.b64encode(zlib.compress(bytes(1 << 26))).decode(),
    ],
    ids=["empty", "no base64", "no zlib", "no object", "64 MiB of zeros"],
)
def test_a_damaged_example_is_its_place_alone(text: str) -> None:
    damaged: dict[str, Any] = {"suite": "s", "test": "t", "packed": text}
    assert unpacked(damaged) == {"suite": "s", "test": "t"}
