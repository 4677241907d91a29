"""The replay engine: packets as they are judged, several files, unreadable ones, and the run record."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.captures import JudgedPacket, replay
from conformance.runlog import Header, RunWriter, read_run
from conformance.spec.catalogue import assignment
from conformance.verdict import ExitCode, Outcome

CAPTURES = Path(__file__).parents[2] / "fixtures" / "captures"
GOOD = CAPTURES / "consistent-session.pcapng"
BAD = CAPTURES / "mqqb-4.1.pcapng"


def run(*paths, **more):
    return replay(paths, profile="msmq-4.0", readings=assignment("windows"), **more)


def test_packets_come_in_order_with_what_a_line_shows():
    packets: list[JudgedPacket] = []
    run(GOOD, on_packet=packets.append)
    assert [one.number for one in packets] == list(range(1, 27))
    first, message, order_ack = packets[0], packets[6], packets[19]
    assert (first.kind, first.direction, first.queue) == ("Ping", "192.0.2.31:4100 -> 192.0.2.32:3527", None)
    assert (message.kind, message.queue) == ("UserMessage", "DIRECT=OS:beta\\private$\\orders")
    assert (order_ack.kind, order_ack.queue) == ("OrderAck", "DIRECT=TCP:192.0.2.31\\PRIVATE$\\order_queue$")
    assert message.time == pytest.approx(1700000000.0074)
    assert all(one.worst is Outcome.PASS for one in packets)


def test_the_line_of_a_deviating_packet_names_its_requirements():
    packets: list[JudgedPacket] = []
    run(BAD, on_packet=packets.append)
    line = packets[3].line()
    assert line.worst is Outcome.FAIL
    assert {"MQQB-3.1.5.3.1.client-guid", "MQQB-3.1.5.3.1.server-guid"} <= set(line.requirements)


def test_an_unreadable_file_does_not_keep_the_others_from_being_judged(tmp_path):
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(b"")
    found = run(GOOD, empty, tmp_path / "missing.pcap")
    assert found.outcomes[Outcome.PASS] > 500
    assert [sentence.endswith(".") for sentence in found.errors] == [True, True]
    assert "empty" in found.errors[0] and "no file" in found.errors[1]
    assert found.exit_code() is ExitCode.BAD_INPUT


def test_a_proven_deviation_outweighs_an_unreadable_file(tmp_path):
    assert run(BAD, tmp_path / "missing.pcap").exit_code() is ExitCode.DEVIATES


def test_a_capture_without_msmq_judges_nothing(tmp_path):
    path = tmp_path / "nothing.pcap"
    path.write_bytes((CAPTURES / "cut-record.pcap").read_bytes()[:24])
    found = run(path)
    assert not found.counted and found.exit_code() is ExitCode.NOTHING_JUDGED


def test_what_was_judged_is_kept_when_interrupted():
    def interrupt(packet: JudgedPacket) -> None:
        if packet.number == 8:
            raise KeyboardInterrupt

    found = run(GOOD, on_packet=interrupt)
    assert found.interrupted and found.packets == 8 and found.outcomes[Outcome.PASS] > 100
    assert found.exit_code() is ExitCode.INTERRUPTED


def test_progress_reaches_the_size_of_the_file():
    seen: list[tuple[str, int, int]] = []
    run(GOOD, on_progress=lambda *how: seen.append(how))
    assert seen[-1] == (str(GOOD), GOOD.stat().st_size, GOOD.stat().st_size)


def test_the_run_record_holds_every_verdict_and_packet(tmp_path):
    with RunWriter(tmp_path) as writer:
        writer.header(Header("a replay", captures=(str(BAD),)))
        found = run(
            BAD,
            on_packet=lambda packet: writer.packet(packet.line()),
            on_verdict=lambda path, verdict: writer.verdict(verdict, suite="replay", test=path),
        )
        found.record_rest(writer)
        writer.footer("completed")
    kept = read_run(tmp_path)
    assert found.outcomes == kept.counts
    assert len(kept.packets) == 8
    fails = [one for one in kept.verdicts if one.verdict.outcome is Outcome.FAIL]
    assert fails and all(one.verdict.evidence and one.verdict.evidence.data["base64"] for one in fails)
