"""The plugin for Wireshark and captures of a run."""

from __future__ import annotations

import json
import shutil
import subprocess
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import tshark
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.capture import Frame, Hole, read_capture
from conformance.files import resource
from conformance.judge.packets.judge import ALL_RULES, judge_packet
from conformance.judge.sessions.mutations import MUTATIONS
from conformance.report.hexdump import SEGMENT, packet_capture, packet_of
from conformance.report.wireshark import MARKS, by_reason, dissector
from conformance.report.wireshark.sessions import lua_sessions
from conformance.spec.catalogue import assignment
from conformance.verdict import Evidence
from conformance.wire import dissect

FIXTURES = Path(__file__).parents[2] / "fixtures"
CAPTURES = sorted(path for path in (FIXTURES / "captures").iterdir() if path.suffix != ".toml")
PROFILE = tshark.PROFILE
SESSIONS = lua_sessions(profile=PROFILE, readings=assignment("windows"), level="must").written
CUT_AS_ANNOUNCED = {
    "packet-size-too-small.pcapng": "the script cuts by PacketSize alone; by its headers the message is 8 bytes longer",
}
"""Captures with a packet that the script cuts in two, and why: the two parts are not compared, all else is."""


@pytest.fixture(scope="module", params=["windows", "strict", "permissive"])
def readings(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def lua(readings: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lua") / "msmq.lua"
    path.write_text(dissector(profile=PROFILE, readings=assignment(readings)).source, encoding="utf-8")
    return path


def packets() -> list[bytes]:
    """Every packet a rule holds for and every one that breaks it, each once, and Microsoft's own.

    One is larger than a record of a capture.
    """
    found = [data for rule in ALL_RULES for data in (rule.breaks.valid(), rule.breaks.broken())]
    for path in sorted((FIXTURES / "vectors").glob("mqqb_*.json")):
        found.append(bytes.fromhex(json.loads(path.read_text(encoding="utf-8"))["hex"]))
    return list(dict.fromkeys(data for data in found if dissect(data).kind != "Ping" and len(data) <= 1 << 18))


def test_every_mutation_is_read_and_judged_as_here(lua: Path, readings: str, tmp_path: Path) -> None:
    sent = packets()
    assert len(sent) > len(ALL_RULES)
    left_out = dissector(profile=PROFILE, readings=assignment(readings)).left_out
    capture = tshark.one_packet_records(tmp_path / "packets.pcap", sent)
    found = tshark.dissect_capture(lua, capture, *tshark.AS_PACKET)
    assert len(found) == len(sent)
    for data, theirs in zip(sent, found, strict=True):
        assert tshark.differences(dissect(data, transport="buffer"), theirs) == [], data.hex()
        ours = judge_packet(data, profile=PROFILE, readings=readings, transport="buffer", explain=False)
        ours += tshark.alone(data, readings)
        assert theirs.verdicts == tshark.judged_by_both(ours, left_out), data.hex()


def judged(frame: Frame, readings: str, left_out: Iterable[str]) -> Counter[tuple[str, str]]:
    """What the packet rules say of a frame of a capture, as `mqconform replay` asks them."""
    alone = tshark.alone(frame.data, readings, transport=frame.transport, complete=frame.trouble is None)
    if frame.transport == "udp":
        return tshark.judged_by_both(alone, left_out)
    why = frame.trouble.kind if frame.trouble else None
    found = judge_packet(
        frame.data,
        profile=PROFILE,
        readings=readings,
        transport="tcp" if why not in (None, "ended") else "buffer",
        explain=False,
    )
    found = [one for one in found if why != "no-header" or one.requirement in MARKS]
    return tshark.judged_by_both([*found, *alone], left_out)


def of_one_packet(found: tshark.Dissected) -> Counter[tuple[str, str]]:
    """The verdicts of a packet by itself, without those by the session rules."""
    return Counter({each: count for each, count in found.verdicts.items() if each[1] not in SESSIONS})


def in_tshark(frame: Frame, capture: Path) -> list[tuple[int, Frame | None]]:
    """The sizes that a frame has in the script, and the frame; None for a part of one."""
    size, announced = len(frame.data), int.from_bytes(frame.data[8:12], "little")
    if capture.name in CUT_AS_ANNOUNCED and announced < size:
        return [(announced, None), (size - announced, None)]
    return [(size, frame)]


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_every_capture_has_the_same_packets_fields_and_verdicts(capture: Path, lua: Path, readings: str) -> None:
    ours: dict[tuple[str, str], list[Frame]] = {}
    events = list(read_capture(capture))
    for event in events:
        if isinstance(event, Frame):
            ours.setdefault((str(event.source), str(event.destination)), []).append(event)
    left_out = dissector(profile=PROFILE, readings=assignment(readings)).left_out
    theirs: dict[tuple[str, str], list[tshark.Dissected]] = {}
    # Out of order, tshark waits for a lost segment to the end; without, it goes on behind the gap.
    lost = ("-o", "tcp.reassemble_out_of_order:FALSE") if any(isinstance(one, Hole) for one in events) else ()
    for one in tshark.dissect_capture(lua, capture, *lost):
        theirs.setdefault(one.flow, []).append(one)
    # What the capture lacks the end of is data of a stream to tshark, and no packet.
    told = {
        flow: [
            piece
            for frame in frames
            if not frame.trouble or frame.trouble.kind in ("no-header", "packet-size")
            for piece in in_tshark(frame, capture)
        ]
        for flow, frames in ours.items()
    }
    assert {flow: [size for size, _ in pieces] for flow, pieces in told.items() if pieces} == {
        flow: [one.size for one in found] for flow, found in theirs.items()
    }
    parts = [size for pieces in told.values() for size, frame in pieces if frame is None]
    assert len(parts) == (2 if capture.name in CUT_AS_ANNOUNCED else 0)
    for flow, pieces in told.items():
        for (_, frame), one in zip(pieces, theirs.get(flow, []), strict=True):
            if frame is None:
                continue
            assert tshark.differences(dissect(frame.data, transport=frame.transport), one) == [], (flow, frame.offset)
            assert of_one_packet(one) == judged(frame, readings, left_out), (flow, frame.offset)


def test_every_session_capture_that_breaks_a_rule_on_a_field_shows_it(lua: Path, readings: str, tmp_path: Path) -> None:
    """Each mutation of a rule that is in the script: the packets it changes, judged as here."""
    made = dissector(profile=PROFILE, readings=assignment(readings))
    names = [name for name in MUTATIONS if name in made.rules and name not in SESSIONS]
    assert len(names) > 30
    frames = {
        event.data: None
        for name in names
        for event in MUTATIONS[name].broken()
        if isinstance(event, Frame) and event.transport == "tcp" and event.trouble is None
    }
    found = tshark.dissect_capture(lua, tshark.one_packet_records(tmp_path / "a.pcap", frames), *tshark.AS_PACKET)
    broken: set[str] = set()
    for data, theirs in zip(frames, found, strict=True):
        ours = judge_packet(data, profile=PROFILE, readings=readings, transport="buffer")
        ours += tshark.alone(data, readings)
        assert theirs.verdicts == tshark.judged_by_both(ours, made.left_out), data.hex()
        broken |= {name for outcome, name in theirs.verdicts if outcome in ("fail", "warn")}
    pings = {name for name in names if name.startswith("MQQB-2.2.7")}
    assert set(names) - pings <= broken


def test_every_rule_is_in_the_script_or_named_with_a_reason() -> None:
    made = dissector(profile=PROFILE, readings=assignment("windows"))
    ids = {rule.id for rule in ALL_RULES} | set(MUTATIONS)
    there = set(made.rules) | set(made.left_out)
    assert ids <= there | {name.partition("/")[0] for name in there}
    assert not set(made.rules) & set(made.left_out)
    assert all(why.startswith("needs ") and "\n" not in why for why in made.left_out.values())
    assert sum(map(len, by_reason(made.left_out).values())) == len(made.left_out)


def test_the_page_lists_the_session_rules_that_are_left_out() -> None:
    made = dissector(profile=PROFILE, readings=assignment("windows"))
    reasons = by_reason({name: why for name, why in made.left_out.items() if name in MUTATIONS})
    rows = [f"| {why} | {', '.join(f'`{name}`' for name in sorted(ids))} |" for why, ids in reasons.items()]
    table = "\n".join(["| reason | rules |", "|---|---|", *rows])
    page = (FIXTURES.parent / "docs" / "wireshark.md").read_text(encoding="utf-8")
    assert page.partition("<!-- left out -->\n")[2].partition("\n<!-- /left out -->")[0] == table


def frames(path: Path) -> list[Frame]:
    return [event for event in read_capture(path) if isinstance(event, Frame)]


def about(frame: Frame) -> dict[str, Any]:
    return {"source": str(frame.source), "destination": str(frame.destination), "time_ns": frame.time_ns}


@pytest.mark.parametrize("name", ["mqqb-4.1.pcapng", "ipv6-extensions.pcapng"])
def test_every_packet_is_found_again(name: str, tmp_path: Path) -> None:
    found = frames(resource(f"fixtures/captures/{name}"))
    assert found
    for number, frame in enumerate(found):
        path = tmp_path / f"{number}.pcap"
        path.write_bytes(packet_capture(frame.data, frame.transport, about(frame)))
        (again,) = frames(path)
        assert again.data == frame.data and again.transport == frame.transport
        assert about(again) == about(frame)


def test_a_long_packet_is_cut_into_segments(tmp_path: Path) -> None:
    (frame,) = [one for one in frames(resource("fixtures/captures/mqqb-4.1.pcapng")) if one.data[4:8] == b"LIOR"][:1]
    # PacketSize says how long the packet is; what follows the headers is then a body.
    data = frame.data[:8] + (3 * SEGMENT).to_bytes(4, "little") + frame.data[12:]
    data = data.ljust(3 * SEGMENT, b"Z")
    path = tmp_path / "long.pcap"
    path.write_bytes(packet_capture(data, "tcp", about(frame)))
    (again,) = frames(path)
    assert again.data == data


def test_tshark_reads_it(tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    frame = frames(resource("fixtures/captures/mqqb-4.1.pcapng"))[2]
    path = tmp_path / "packet.pcap"
    path.write_bytes(packet_capture(frame.data, frame.transport, about(frame)))
    fields = ("ip.src", "tcp.dstport", "tcp.payload", "ip.checksum.status", "_ws.malformed")
    done = subprocess.run(
        ["tshark", "-r", str(path), "-o", "ip.check_checksum:TRUE", "-T", "fields", *(f"-e{one}" for one in fields)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    source, _, port = about(frame)["destination"].rpartition(":")
    assert source
    start, packet = (line.split("\t") for line in done.stdout.splitlines())
    assert start[2] == "" and packet[1:] == [port, frame.data.hex(), "1", ""]


@settings(max_examples=30, deadline=None)
@given(
    st.binary(max_size=200),
    st.sampled_from(["tcp", "udp", "buffer"]),
    st.fixed_dictionaries(
        {},
        optional={
            "source": st.one_of(st.text(), st.integers(), st.sampled_from(["[::1]:9", "1.2.3.4:99999", "::1:²"])),
            "destination": st.one_of(st.text(), st.none(), st.just("192.0.2.7:1801")),
            "time_ns": st.one_of(st.integers(), st.floats(), st.booleans(), st.text()),
        },
    ),
)
def test_any_evidence_makes_a_capture(data: bytes, transport: str, told: dict[str, Any]) -> None:
    assert data in packet_capture(data, transport, told)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"base64": 7},
        {"base64": "no base64!"},
        {"packet": "é"},
        {"packet": ["AAAA"]},
        {"base64": "A" * ((16 << 20) * 4 // 3 + 4)},
    ],
)
def test_evidence_without_a_packet_has_none(data: dict[str, Any]) -> None:
    assert packet_of(Evidence("packet", "frame 1", data)) is None


def test_evidence_holds_its_packet_under_either_name() -> None:
    told = b64encode(b"abc").decode()
    assert packet_of(Evidence("packet", "frame 1", {"base64": told, "transport": "udp"})) == (b"abc", "udp")
    assert packet_of(Evidence("packet", "encoded", {"packet": told, "transport": "smoke"})) == (b"abc", "buffer")
    assert packet_of(Evidence("history", "encoded", {"packet": told})) is None
    assert packet_of(None) is None
