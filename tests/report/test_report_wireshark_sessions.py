"""The session rules in the dissector: what they say of a packet, `mqconform replay` says of it too."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import tshark
from session_captures import capture_of

from conformance.capture import Frame, read_capture
from conformance.captures.packet_rules import PacketRules
from conformance.judge.sessions.judge import SessionJudge
from conformance.judge.sessions.mutations import MUTATIONS
from conformance.report.wireshark import dissector
from conformance.report.wireshark.sessions import lua_sessions
from conformance.spec.catalogue import assignment
from conformance.verdict import Verdict

FIXTURES = Path(__file__).parents[2] / "fixtures"
CAPTURES = sorted(path for path in (FIXTURES / "captures").iterdir() if path.suffix != ".toml")
PROFILE = "msmq-6.0"
RULES = lua_sessions(profile=PROFILE, readings=assignment("windows"), level="must").written
OUTCOMES = ("pass", "fail", "warn", "reading")

Said = Counter[tuple[int, str, str]]
"""The record, the outcome and the requirement of each verdict."""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The dissector by readings."""
    found = {}
    for readings in ("windows", "strict"):
        found[readings] = tmp_path_factory.mktemp(readings) / "msmq.lua"
        source = dissector(profile=PROFILE, readings=assignment(readings)).source
        found[readings].write_text(source, encoding="utf-8")
    return found


def here(capture: Path, readings: str) -> Said:
    """What the session rules say."""
    judge, levels = SessionJudge(assignment(readings)), PacketRules(PROFILE, assignment(readings))
    verdicts: list[Verdict] = []
    records: dict[int | None, int] = {}
    for event in read_capture(capture):
        if isinstance(event, Frame):
            records[event.number] = event.record
        verdicts += judge.feed(event)
    levelled = [one for one in levels.levelled(verdicts) if isinstance(one, Verdict) and one.requirement in RULES]
    return Counter((records[one.frame], one.outcome.value, one.requirement) for one in levelled)


def there(lua: Path, capture: Path, *options: str) -> Said:
    """What the dissector says by these rules."""
    fields = [word for name in OUTCOMES for word in ("-e", f"msmq.{name}")]
    text = tshark.run(lua, capture, "-T", "fields", "-e", "frame.number", *fields, "-o", "msmq.passes:TRUE", *options)
    lines = [line.split("\t") for line in text.splitlines()]
    return Counter(
        (int(number), outcome, name)
        for number, *columns in lines
        for outcome, column in zip(OUTCOMES, columns, strict=True)
        for name in column.split(",")
        if name in RULES
    )


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_the_dissector_says_nothing_that_replay_does_not(capture: Path, scripts: dict[str, Path]) -> None:
    found = there(scripts["windows"], capture)
    assert found <= here(capture, "windows")


@pytest.mark.parametrize("requirement", RULES)
def test_each_rule_is_broken_in_the_same_packets(requirement: str, scripts: dict[str, Path], tmp_path: Path) -> None:
    capture, readings = tmp_path / "spoiled.pcap", MUTATIONS[requirement].readings
    capture.write_bytes(capture_of(MUTATIONS[requirement].broken()))
    found, wanted = there(scripts[readings], capture), here(capture, readings)
    assert found <= wanted
    assert any(name == requirement and outcome in ("fail", "warn") for _, outcome, name in found)


def test_a_second_pass_says_the_same(scripts: dict[str, Path]) -> None:
    capture = FIXTURES / "captures" / "resending-session.pcapng"
    found = there(scripts["windows"], capture)
    assert found and there(scripts["windows"], capture, "-2", "-R", "frame") == found
