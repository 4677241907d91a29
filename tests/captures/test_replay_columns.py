"""Judging by columns says exactly what the one-by-one replay says, in the same order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import build_captures
import pytest
from generated_corpus import Captures, Corpus, Template, write_corpus
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packet_mutations import changes
from record_edits import edit, edits, records_of

from conformance.capture import Frame, read_capture
from conformance.captures import Replay, replay, replay_captures
from conformance.captures.columns import judge_range
from conformance.captures.engine import JudgedPacket
from conformance.captures.judge import is_ours
from conformance.captures.packet_rules import PacketRules
from conformance.captures.summary import CaptureSummary
from conformance.command_options import BadInput
from conformance.files import resource
from conformance.judge.columns.rule_trees import signature_rules
from conformance.judge.packets.judge import RULES
from conformance.judge.sessions.context import Seen
from conformance.judge.sessions.judge import SessionJudge
from conformance.spec.catalogue import assignment
from conformance.verdict import ExitCode, Outcome
from conformance.wire import dissect

Readings = Mapping[str, tuple[str, ...]]
PROFILE = "msmq-4.0"
CAPTURES = sorted(
    path.name for path in resource("fixtures/captures").iterdir() if ".pcap" in path.name and not is_ours(path)
)
"""Recordings of the program itself are left to the other code, which leaves one end out."""


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Captures:
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder / "whole.pcap", 120, connections=4, kinds=80)
    write_corpus(folder / "spread.pcap", 120, connections=4, kinds=80, seed=2, spread=True, disorder=0.1)
    made = [getattr(build_captures, name)().pcap() for name in ("consistent_session", "resending_session")]
    return Captures([*made, (folder / "whole.pcap").read_bytes(), (folder / "spread.pcap").read_bytes()])


def packet_rules(path: str, readings: Readings, level: str, profile: str) -> Replay:
    """The packet rules of a capture and what they say of its senders, one by one."""
    result, sessions = Replay(), SessionJudge(readings)
    result.captures.append(CaptureSummary(path))
    for event in read_capture(path):
        packet = dissect(event.data, transport=event.transport) if isinstance(event, Frame) else None
        sessions.feed(event, packet)
        if not isinstance(event, Frame) or packet is None:
            continue
        verdicts = PacketRules(profile, readings, level).judge(Seen(event, packet))
        result.follow(path, sessions.sender(event, packet), verdicts)
        for verdict in verdicts:
            result.add(path, verdict, "packet")
    result.conclude(path, readings, level)
    return result


@pytest.mark.parametrize("name", CAPTURES)
def test_fixtures(name: str) -> None:
    path, readings = str(resource("fixtures/captures") / name), assignment("windows")
    found = judge_range(path, profile=PROFILE, readings=readings).replay
    wanted = replay([path], profile=PROFILE, readings=readings)
    assert found.counted == wanted.counted
    assert found.captures == wanted.captures
    assert found.tally == wanted.tally


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    which=st.integers(0, 3),
    changes=edits(6),
    reading_set=st.sampled_from(["windows", "strict", "permissive"]),
    level=st.sampled_from(["must", "should", "may"]),
    profile=st.sampled_from(["msmq-1.0", "msmq-3.0", "msmq-6.0"]),
)
def test_edited_captures(
    captures: Captures,
    tmp_path: Path,
    which: int,
    changes: list[tuple[str, int, int]],
    reading_set: str,
    level: str,
    profile: str,
) -> None:
    head, records = records_of(captures[which])
    for change in changes:
        edit(records, *change)
    path, readings = str(tmp_path / "edited.pcap"), assignment(reading_set)
    Path(path).write_bytes(head + b"".join(records))
    for sessions in (True, False):
        found = judge_range(path, profile=profile, readings=readings, level=level, sessions=sessions).replay
        wanted = (
            replay([path], profile=profile, readings=readings, level=level)
            if sessions
            else packet_rules(path, readings, level, profile)
        )
        assert found.counted == wanted.counted
        assert found.tally == wanted.tally


def test_hardly_a_packet_is_left_to_the_other_code(captures: Captures, tmp_path: Path) -> None:
    path = tmp_path / "whole.pcap"
    path.write_bytes(captures[2])
    found = judge_range(path, profile=PROFILE, readings=assignment("windows"), sessions=False)
    assert found.summary.packets == 120
    assert found.slow.total() <= 3, found.slow


def test_signed_packets(tmp_path: Path) -> None:
    """Rules about certificates and signatures, which compiled code leaves open, and the others, which it does not."""
    path, readings = tmp_path / "signed.pcap", assignment("strict")
    rules = [rule for rule in RULES if rule.id in signature_rules()]
    packets = [data for rule in rules[::4] for data in (rule.breaks.valid(), rule.breaks.broken())]
    with path.open("wb") as out:
        corpus = Corpus(out, 1, 3, False, 0.0)
        for at, data in enumerate([*packets, *packets[::3]]):
            corpus.message(corpus.connections[at % 3], Template(data, None, None, False, 1))
        corpus.close()
    for keep in (3, 1_000):
        found = judge_range(path, profile=PROFILE, readings=readings, sessions=False, keep=keep)
        wanted = packet_rules(str(path), readings, "must", PROFILE)
        assert found.slow["signed"] > len(packets) / 2
        assert found.replay.outcomes == wanted.outcomes
        assert found.replay.tally == wanted.tally
        assert keep == 3 or found.replay.counted == wanted.counted


def framed(data: bytes) -> bool:
    """Tell whether a stream shows where the packet ends: PacketSize counts all of it but a SessionHeader."""
    return int.from_bytes(data[8:12], "little") == len(data) - 16 * (data[2] >> 4 & 1)


@pytest.mark.parametrize(("level", "start"), [("must", 3), ("may", 29)])
def test_changed_packets(tmp_path: Path, level: str, start: int) -> None:
    """Every kind of change of a packet, twice: verdicts, their order and evidence, and what each sender got."""
    path, readings = tmp_path / "changed.pcap", assignment("windows")
    packets = [one.data for at, one in enumerate(changes()) if at % 61 == start and framed(one.data)]
    with path.open("wb") as out:
        corpus = Corpus(out, 1, 3, False, 0.0)
        for at, data in enumerate([*packets, *packets]):
            corpus.message(corpus.connections[at % 3], Template(data, None, None, False, 1))
        corpus.close()
    shown: list[JudgedPacket] = []
    found = judge_range(path, profile=PROFILE, readings=readings, level=level, sessions=False, on_packet=shown.append)
    wanted = packet_rules(str(path), readings, level, PROFILE)
    assert found.replay.counted == wanted.counted
    assert found.replay.tally == wanted.tally
    singled = [one.verdict for one in wanted.counted if one.verdict.outcome is not Outcome.PASS]
    assert sorted(map(repr, singled)) == sorted(repr(one) for packet in shown for one in packet.deviating)
    kinds = Counter(kind for kinds in found.senders().values() for kind, count in kinds.items() for _ in range(count))
    assert kinds == Counter(
        kind
        for one in wanted.counted
        if one.verdict.frame is not None
        for kind in [(one.verdict.requirement, one.verdict.outcome, one.verdict.readings)] * one.count
    )
    assert found.slow["not decoded whole"] > len(packets) / 8
    assert found.slow["holds what no header explains"] + found.slow["another layout may explain it"] > 3


def test_what_is_not_kept_is_counted(captures: Captures, tmp_path: Path) -> None:
    """With fewer verdicts kept one by one the sums stay the same."""
    path, readings = str(tmp_path / "broken.pcap"), assignment("windows")
    head, records = records_of(captures[2])
    for at in range(40, 80):
        edit(records, "change-head", at, 3 + (0x77 << 8))  # BaseHeader.Flags
    Path(path).write_bytes(head + b"".join(records))
    few = judge_range(path, profile=PROFILE, readings=readings, sessions=False, keep=3).replay
    all_ = judge_range(path, profile=PROFILE, readings=readings, sessions=False).replay
    assert few.outcomes == all_.outcomes
    assert few.tally == all_.tally
    assert sum(one.count == 1 and one.verdict.evidence is not None for one in few.counted) < len(all_.counted)
    assert len(all_.counted) > len(few.counted)


def test_a_part_of_a_file_is_judged_by_itself(captures: Captures, tmp_path: Path) -> None:
    head, records = records_of(captures[0])
    whole, part = tmp_path / "whole.pcap", tmp_path / "part.pcap"
    whole.write_bytes(head + b"".join(records))
    part.write_bytes(head + b"".join(records[5:20]))
    start = 24 + sum(map(len, records[:5]))
    stop = start + sum(map(len, records[5:20]))
    readings = assignment("windows")
    one = judge_range(whole, start, stop, profile=PROFILE, readings=readings)
    other = judge_range(part, profile=PROFILE, readings=readings)
    assert [(each.verdict, each.count) for each in one.replay.counted] == [
        (each.verdict, each.count) for each in other.replay.counted
    ]
    assert one.summary.records == 15
    within = judge_range(whole, start - 7, stop, profile=PROFILE, readings=readings)
    assert within.replay.counted == one.replay.counted


def test_damage_is_passed_and_counted(captures: Captures, tmp_path: Path) -> None:
    """Three records that make no sense any more: what is behind them is judged, as if they had not been captured."""
    head, records = records_of(captures[2])
    path, without = tmp_path / "damaged.pcap", tmp_path / "without.pcap"
    junk = bytes(len(b"".join(records[50:53])))[:-16] + b"\xff" * 16
    path.write_bytes(head + b"".join(records[:50]) + b"\xff" * 16 + junk[16:] + b"".join(records[53:]))
    without.write_bytes(head + b"".join(records[:50] + records[53:]))
    readings = assignment("windows")
    found = judge_range(path, profile=PROFILE, readings=readings, sessions=False)
    wanted = judge_range(without, profile=PROFILE, readings=readings, sessions=False)
    assert found.summary.incomplete.passed_over == len(junk)
    assert found.summary.cut is None
    assert found.summary.records == len(records) - 3
    assert found.replay.outcomes == wanted.replay.outcomes


def test_four_gigabytes_are_mapped_and_not_read(captures: Captures, tmp_path: Path) -> None:
    """A sparse file beyond 32 bits, judged in its last part alone."""
    head, records = records_of(captures[2])
    path, far = tmp_path / "sparse.pcap", (1 << 32) + 12_345
    with path.open("wb") as file:
        file.write(head)
        file.seek(far)
        file.write(b"".join(records))
    found = judge_range(path, far, profile=PROFILE, readings=assignment("windows"), sessions=False)
    assert found.summary.records == len(records)
    assert found.summary.packets == 120


def test_recorded_as_the_other_way(tmp_path: Path) -> None:
    """The run records hold the same verdicts and judgements; only packets that deviate are there one by one."""
    path = resource("fixtures/captures") / "mqqb-4.1.pcapng"
    one = replay_captures(path, out=tmp_path / "one")
    other = replay_captures(path, out=tmp_path / "other", columns=True)
    assert one.exit_code is other.exit_code is ExitCode.DEVIATES
    assert one.record.verdicts == other.record.verdicts
    assert one.record.tally == other.record.tally


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"columns": True, "filter": "kind=Ping"}, "leave it out with --filter"),
        ({"columns": True, "against": "embedded"}, "leave it out with --against"),
        ({"columns": True, "follow": True}, "leave it out with --follow"),
        ({"packets_only": True}, "needs --columns"),
    ],
)
def test_what_columns_cannot(tmp_path: Path, asked: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        replay_captures(resource("fixtures/captures") / "vlan.pcap", out=tmp_path, **asked)


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.wire.columns.extra.find_spec", lambda name: None)
    with pytest.raises(BadInput, match=r"^Judging by columns needs numpy .*pip install 'mqconform\[columns\]'\.$"):
        replay_captures(resource("fixtures/captures") / "vlan.pcap", out=tmp_path, columns=True)
