"""A deviation of a capture says where it is, in the words and numbers of Wireshark, wherever it is shown."""

from __future__ import annotations

import io
import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
import tshark
from rich.console import Console

import conformance
from conformance.files import resource
from conformance.judge.sessions import mutations
from conformance.judge.sessions.fields import FIELDS
from conformance.judge.sessions.judge import judge_sessions
from conformance.report.console import print_summary
from conformance.report.findings import ReportedFinding, deviations, groups, story_lines
from conformance.report.gate import decide
from conformance.report.hexdump import dump_of
from conformance.report.html import render_html
from conformance.report.places import PacketPlace, moment, packet_number
from conformance.report.sarif import sarif
from conformance.report.standing import Known, read_baseline, standing
from conformance.report.table import roll_up
from conformance.runlog import Run
from conformance.spec.catalogue import assignment, catalogue
from conformance.verdict import Outcome

CAPTURE = str(resource("fixtures/captures/mqqb-4.1.pcapng"))
GUID = "MQQB-3.1.5.3.1.client-guid"
WORDS = "packet 4 (Wireshark frame 8)"
DETAILS = "TCP stream 0, 2006-03-10T04:51:50.189750Z, 192.0.2.20:1801 -> 192.0.2.10:49759"


@pytest.fixture(scope="module")
def run() -> Run:
    return conformance.replay(CAPTURE).record


def findings(run: Run) -> list[ReportedFinding]:
    return [finding for part in groups(run, roll_up(run)) for group in part for finding in group.shown]


def found(run: Run, requirement: str = GUID) -> ReportedFinding:
    return next(one for one in findings(run) if one.recorded.verdict.requirement == requirement)


def test_the_lines_of_a_deviation_say_frame_stream_time_and_ends(run: Run) -> None:
    first, second, *_ = story_lines(found(run))
    assert (first, second) == (f"subject: {WORDS} of {CAPTURE}", f"place: {DETAILS}")


def test_every_deviation_of_every_fixture_has_a_place() -> None:
    captures = sorted(path for path in resource("fixtures/captures").iterdir() if path.suffix == ".pcapng")
    shown = findings(conformance.replay(captures, allow_incomplete=True).record)
    about = [one for one in shown if packet_number(one.recorded.verdict.subject) is not None]
    assert len(about) > 20
    assert [one.recorded.verdict for one in about if one.place is None or one.place.frame is None] == []
    assert [one.place for one in about if one.place is not None and not (one.place.time and one.place.direction)] == []


def test_the_console_says_it_of_warnings_and_readings_too(run: Run) -> None:
    print_summary(run, Console(file=(out := io.StringIO()), width=400))
    lines = out.getvalue().splitlines()
    notable = [at for at, line in enumerate(lines) if line.startswith(("warn: ", "reading: "))]
    assert len(notable) > 2
    assert all(
        lines[at + 1].startswith(f"  {CAPTURE}: packet ") and "(Wireshark frame " in lines[at + 1] for at in notable
    )


def test_the_page_says_it(run: Run) -> None:
    text = render_html(run)
    assert f"<h4>{WORDS}" in text and DETAILS.replace(">", "&gt;") in text
    assert ">Wireshark frame</th>" in text and ">TCP stream</th>" in text


def test_sarif_says_it_in_the_message_and_in_properties(run: Run) -> None:
    results = json.loads(json.dumps(sarif(run)))["runs"][0]["results"]
    result = next(one for one in results if one["ruleId"] == GUID)
    assert f"On: {WORDS}, {DETAILS}" in result["message"]["text"]
    named = {
        name: result["properties"][name] for name in ("packet", "frame", "stream", "time", "source", "destination")
    }
    assert named == {
        "packet": 4, "frame": 8, "stream": 0, "time": "2006-03-10T04:51:50.189750Z", "source": "192.0.2.20:1801",
        "destination": "192.0.2.10:49759",
    }  # fmt: skip


def test_json_has_it_as_members(run: Run) -> None:
    told = next(one for one in deviations(run)["deviations"] if one["requirement"] == GUID)
    assert told["subject"] == "frame 4" and told["place"]["packet"] == 4
    assert (told["place"]["capture"], told["place"]["frame"], told["place"]["stream"]) == (CAPTURE, 8, 0)


def test_the_gate_says_it(run: Run) -> None:
    objection = next(one for one in decide(standing(run)).objections if one.what == GUID)
    assert objection.why == f"fail: {WORDS}, {DETAILS}, of {CAPTURE}"
    assert objection.to_json()["place"] == objection.place.to_json() if objection.place else False


def test_a_baseline_may_name_the_packet_as_it_is_shown(run: Run, tmp_path: Path) -> None:
    lines = [f'requirement = "{GUID}"', 'subject = "packet 4"', 'reason = "r"', 'link = "l"', "expires = 2100-01-01"]
    (tmp_path / "b.toml").write_text("\n".join(["[[known]]", *lines]))
    entry: Known = read_baseline(tmp_path / "b.toml")[0]
    assert entry.covers(GUID, "frame 4") and not entry.covers(GUID, "frame 5")


def test_what_a_verdict_expects_speaks_of_packets_not_of_frames(run: Run) -> None:
    assert found(run, "MQQB-3.1.5.3.2.invalid-closes").expected == '"the connection is closed because of packet 4"'


def test_what_is_not_known_is_left_out() -> None:
    assert PacketPlace("c", 4).line == "packet 4"
    assert PacketPlace("c", 4, 8, None, "", "a -> b").line == f"{WORDS}, a -> b"
    assert PacketPlace("c", 4).to_json()["source"] is None
    assert moment(None) == moment(1 << 80) == "" and moment(1_000) == "1970-01-01T00:00:00.000001Z"


@pytest.mark.parametrize("name", ["mqqb-4.1.pcapng", "served-fault.pcapng", "http-headers-wrong.pcapng"])
def test_tshark_finds_the_packet_at_this_place(name: str) -> None:
    path = resource(f"fixtures/captures/{name}")
    fields = ("frame.number", "tcp.stream", "frame.time_epoch", "ip.src", "tcp.srcport", "ip.dst", "tcp.dstport")
    asked = [one for each in fields for one in ("-e", each)]
    command = [tshark.program(), "-r", str(path), "-T", "fields", *asked]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    theirs = {int(number): rest for number, *rest in (line.split("\t") for line in lines)}
    places = [one.place for one in findings(conformance.replay(path, allow_incomplete=True).record) if one.place]
    assert places
    for place in places:
        stream, seconds, source, port, destination, other = theirs[place.frame or 0]
        when = datetime.fromtimestamp(float(seconds), UTC).isoformat(timespec="seconds")
        assert (str(place.stream), place.time[:19]) == (stream, when[:19])
        assert place.direction == f"{source}:{port} -> {destination}:{other}"


UNMARKED = frozenset(
    {
        "MQQB-2.1.1.initialization", "MQQB-2.1.2.response-address", "MQQB-3.1.2.9.one-second",
        "MQQB-3.1.3.2.order-ack-delay", "MQQB-3.1.5.8.2.acknowledged-in-time", "MQQB-3.1.6.4.expired",
        "MQQB-3.1.6.5.resend-interval",
        "MQQB-3.1.7.6.refused",
        # A packet that ends before the field.
        "MQQB-2.2.1.present", "MQQB-2.2.7.size",
        # A packet that should not have been sent at all, or not so late.
        "MQQB-3.1.1.6.1.discarded", "MQQB-3.1.1.6.2.scheduled", "MQQB-3.1.7.13.paused", "MQQB-3.1.5.8.1.duplicate",
        # One after which another should have come.
        "MQQB-3.1.7.2.2.sent",
        # A packet after which the connection had to be closed.
        "MQQB-2.2.1.packet-type-closes", "MQQB-3.1.5.1.2.signature-closes", "MQQB-3.1.5.1.3.malformed-closes",
        "MQQB-3.1.5.3.2.invalid-closes", "MQQB-3.1.5.3.state-closes", "MQQB-3.1.5.4.state-closes",
        "MQQB-3.1.5.5.state-closes", "MQQB-3.1.5.6.state-closes", "MQQB-3.1.5.7.state-closes",
        "MQQB-3.1.5.8.state-closes",
        "MQQB-3.1.1.6.2.discarded",
    }
)  # fmt: skip
"""No byte of their packet is wrong: it comes at a wrong time, or from a wrong port."""


@pytest.mark.parametrize("requirement", sorted(mutations.MUTATIONS))
def test_the_wrong_bytes_of_a_session_are_marked(requirement: str) -> None:
    mutation = mutations.MUTATIONS[requirement]
    events = mutations.captured(mutation.capture)
    for edit in mutation.before:
        events = edit(events)
    verdicts = [
        one
        for edit in mutation.edits
        for one in judge_sessions(mutations.numbered(edit(list(events))), readings=assignment(mutation.readings))
    ]
    blamed = [one for one in verdicts if one.outcome is Outcome.FAIL and one.requirement == requirement]
    for verdict in blamed:
        assert verdict.evidence is not None
        marked = [line.text for line in dump_of(verdict, verdict.evidence) if line.marked and requirement in line.text]
        assert bool(marked) == (requirement not in UNMARKED), requirement


def test_the_fields_are_those_of_known_requirements() -> None:
    assert set(FIELDS) <= set(catalogue().requirements)
