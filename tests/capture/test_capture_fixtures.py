"""Each capture of fixtures/captures gets exactly the verdicts its expect.toml says, and is what the script builds."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import build_captures
import build_served
import pytest

from conformance.captures import replay
from conformance.files import resource
from conformance.runlog import Incomplete
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome

CAPTURES = sorted(path for path in resource("fixtures/captures").iterdir() if path.suffix != ".toml")

SERVED = [path for path in CAPTURES if path.name.startswith(build_served.PREFIX)]
"""Recordings of `serve` and of runs against it, which are other ones each time they are made."""

ACROSS = {
    "MQQB-3.1.5.2.3.time-stamp", "MQMQ-2.2.20.4.recoverable-ack-flags", "MQQB-3.1.6.9.sent",
    "MQQB-3.1.1.6.2.discarded", "MQQB-3.1.6.4.expired", "MQQB-3.1.7.2.2.sent",
}  # fmt: skip
"""What rules compare between two connections, or at the end of one, or what is younger: the run has not said it."""


def expected_of(capture: Path) -> dict:
    name = capture.name.removesuffix(".gz").rpartition(".")[0]
    return tomllib.loads(capture.with_name(f"{name}.expect.toml").read_text(encoding="utf-8"))


def test_there_are_captures():
    assert len(CAPTURES) >= 23


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_verdicts_are_the_expected_ones(capture):
    expected = expected_of(capture)
    found = replay([capture], profile="msmq-4.0", readings=assignment("windows"))
    summary = found.captures[0]
    others, passes = Counter(), Counter()
    for one in found.counted:
        if one.verdict.outcome is Outcome.PASS:
            passes[one.verdict.requirement] += one.count
        else:
            others[one.verdict.requirement, one.verdict.outcome.value, one.verdict.subject] += one.count
    assert others == Counter(
        (one["requirement"], one["outcome"], one["subject"]) for one in expected.get("verdict", [])
    )
    assert dict(passes) == expected["passes"]
    assert (summary.packets, summary.lost, summary.cut) == (
        expected["packets"], expected.get("lost", 0), expected.get("cut")
    )  # fmt: skip
    assert summary.incomplete == Incomplete(**expected.get("incomplete", {}))
    lacking = summary.lacking
    assert (lacking.began_before, lacking.go_on) == (expected.get("began_before", 0), expected.get("go_on", 0))


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_no_expected_verdict_lacks_its_reason(capture):
    assert all(one["why"] for one in expected_of(capture).get("verdict", []))


def test_the_captures_are_what_the_script_builds():
    built = build_captures.build()
    made = [path for path in CAPTURES if path not in SERVED]
    assert set(built) == {path.name for path in made}
    for path in made:
        # The compressed bytes depend on the zlib in use; what they hold does not.
        if path.suffix != ".gz":
            assert path.read_bytes() == built[path.name], path.name


def test_there_is_a_recording_of_each_kind():
    assert [path.name for path in SERVED] == sorted(
        f"{build_served.PREFIX}{name}.pcapng" for name in build_served.SERVED
    )


@pytest.mark.parametrize("capture", SERVED, ids=lambda path: path.name)
def test_a_replay_repeats_what_was_said_when_it_was_recorded(capture):
    found = replay([capture], profile="msmq-4.0", readings=assignment("windows"))
    assert found.captures[0].own is not None
    again = {}
    for one in found.counted:
        again.setdefault(one.verdict.requirement, set()).add(one.verdict.outcome.value)
    run = {name: set(outcomes) for name, outcomes in expected_of(capture)["run"].items()}
    for name in ACROSS & again.keys() - run.keys():
        assert again.pop(name) == {"pass"}
    assert len(again) > 40 and {name: run.get(name) for name in again} == again
    # What a dialogue demands of its answers is judged by the run alone, and it asked nothing in vain here.
    assert {name for name, outcomes in run.items() if outcomes != {"pass"}} <= set(again)


@pytest.mark.parametrize("level", ["must", "should", "may"])
@pytest.mark.parametrize("readings", ["windows", "strict", "permissive"])
def test_the_consistent_session_under_every_reading_set(readings, level):
    capture = resource("fixtures/captures") / "consistent-session.pcapng"
    found = replay([capture], profile="msmq-4.0", readings=assignment(readings), level=level)
    # By the letter PacketSize of a SessionAck leaves out its SessionHeader; ours counts it, as MS-MQQB 4.1.8 does.
    allowed = {"MQMQ-2.2.19.1.packet-size-session-header"} if readings == "strict" else set()
    assert {one.verdict.requirement for one in found.counted if one.verdict.outcome is not Outcome.PASS} == allowed


def test_a_demand_weaker_than_the_level_is_a_warning():
    capture = resource("fixtures/captures") / "mqqb-4.1.pcapng"
    must = replay([capture], profile="msmq-4.0", readings=assignment("windows"), level="must").outcomes
    should = replay([capture], profile="msmq-4.0", readings=assignment("windows"), level="should").outcomes
    assert must[Outcome.WARN] == 3 and Outcome.WARN not in should
    assert should[Outcome.FAIL] == must[Outcome.FAIL] + 3
