"""Packets that a replay selects, captures it finds, and how it tells findings apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory import ratios, write_captures
from session_captures import capture_of

import conformance
from conformance.capture import Closed, Frame
from conformance.captures import JudgedPacket, replay, replay_captures
from conformance.captures.engine import FURTHER, MAX_NAMED
from conformance.captures.selection import KEYS, SelectionError, parse
from conformance.captures.summary import Fingerprints, fingerprint
from conformance.cli.replay import notes
from conformance.judge.packets import diagnosis
from conformance.judge.packets.diagnosis import Search
from conformance.judge.packets.judge import judge_dissected, judge_packet
from conformance.judge.packets.rules_lists import MULTI, SOAP
from conformance.judge.packets.rules_security import WITH_SID
from conformance.judge.packets.rules_user import ASKING, TRANSACTION
from conformance.judge.rules import PLAIN
from conformance.judge.sessions.mutations import captured, frame
from conformance.spec.catalogue import assignment
from conformance.verdict import ExitCode, Outcome, Verdict
from conformance.wire import dissect, encode, patch

SESSION = Path(__file__).parents[2] / "fixtures" / "captures" / "consistent-session.pcapng"
BROKEN = SESSION.with_name("mqqb-4.1.pcapng")


def selected(text: str) -> list[JudgedPacket]:
    packets: list[JudgedPacket] = []
    replay(
        [SESSION],
        profile="msmq-4.0",
        readings=assignment("windows"),
        on_packet=packets.append,
        selection=parse(text),
    )
    return packets


def test_terms_of_one_key_are_alternatives_and_keys_must_all_fit() -> None:
    whole = selected("address=*")
    assert len(whole) == 26
    kinds = selected("kind=OrderAck kind=ping")
    assert {one.kind for one in kinds} == {"OrderAck", "Ping"}
    both = selected("kind=UserMessage source=192.0.2.31")
    assert both and all(one.kind == "UserMessage" and one.direction.startswith("192.0.2.31:") for one in both)
    assert {one.number for one in selected("kind=UserMessage source!=192.0.2.31")} == {
        one.number for one in whole if one.kind == "UserMessage"
    } - {one.number for one in both}


def test_queues_are_patterns_and_a_backslash_is_one() -> None:
    found = selected(r"queue=direct=os:*\PRIVATE$\orders")
    assert found and {one.queue for one in found} == {"DIRECT=OS:beta\\private$\\orders"}
    assert selected("queue=orders") == []
    assert {one.kind for one in selected("queue!=*")} == {
        one.kind for one in selected("address=*") if one.queue is None
    }


def test_ports_and_connections() -> None:
    assert {one.kind for one in selected("destination=192.0.2.32:3527")} == {"Ping"}
    assert {one.kind for one in selected("connection!=*")} == {"Ping"}


def test_nothing_is_said_of_what_is_not_meant() -> None:
    readings = assignment("windows")
    whole = replay([BROKEN], profile="msmq-4.0", readings=readings)
    assert whole.exit_code() is ExitCode.DEVIATES
    pings = replay([BROKEN], profile="msmq-4.0", readings=readings, selection=parse("kind=Ping"))
    assert pings.exit_code() is ExitCode.CONFORMS
    assert (pings.captures[0].packets, pings.captures[0].selected) == (8, 2)
    none = replay([BROKEN], profile="msmq-4.0", readings=readings, selection=parse("queue=nowhere"))
    assert none.exit_code() is ExitCode.NOTHING_JUDGED


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("qeue=x", "did you mean queue"),
        ("zzz=x", "one of queue, kind"),
        ("kind=UserMesage", "did you mean UserMessage"),
        ("kind!=Pong*", "no kind 'Pong"),
        ("queue", "Invalid filter term"),
        ("queue=", "Invalid filter term"),
        ("=x", "no key"),
        ("queue='x", "quotation mark"),
        ("queue=" + "x" * 5000, "allowed"),
    ],
)
def test_what_is_no_filter(text: str, says: str) -> None:
    with pytest.raises(SelectionError, match=says):
        parse(text)


@given(st.sampled_from(sorted(KEYS)), st.text(st.characters(exclude_characters="'\""), min_size=1, max_size=20))
def test_any_pattern_fits_itself_or_is_refused(key: str, pattern: str) -> None:
    try:
        chosen = parse(f"{key}={pattern}")
    except SelectionError:
        return
    assert set(chosen.wanted) | set(chosen.unwanted)


CAPTURE = Path(__file__).parents[2] / "fixtures" / "captures" / "cut-record.pcap"


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5 << 20])
def test_a_file_of_any_size(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    data = os.urandom(size)
    path.write_bytes(data)
    assert fingerprint(path) == {"bytes": size, "sha256": sha256(data).hexdigest()}


def test_what_cannot_be_read_has_none(tmp_path: Path) -> None:
    assert fingerprint(tmp_path / "nothing") is None
    assert fingerprint(tmp_path) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are of POSIX")
def test_nothing_is_taken_out_of_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert fingerprint(tmp_path / "pipe") is None


def test_told_to_stop(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(10))
    stop = Event()
    stop.set()
    assert fingerprint(tmp_path / "file", stop) is None


def test_several_are_told_in_their_order(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in "cab"]
    for path in paths:
        Path(path).write_text(path)
    found = Fingerprints([*paths, str(tmp_path / "nothing")]).found()
    assert list(found.items()) == [(path, fingerprint(path)) for path in [*paths, str(tmp_path / "nothing")]]
    given_up = Fingerprints(paths)
    given_up.give_up()
    given_up.give_up()


@pytest.mark.parametrize("columns", [False, True])
def test_a_replay_records_it(tmp_path: Path, columns: bool) -> None:
    found = replay_captures(CAPTURE, out=tmp_path, columns=columns)
    assert found.record is not None
    [told] = [one.data for one in found.record.evidence.values() if one.kind == "capture"]
    data = CAPTURE.read_bytes()
    assert (told["bytes"], told["sha256"]) == (len(data), sha256(data).hexdigest())


COUNT = MAX_NAMED + 30


@pytest.mark.parametrize("columns", [False, True])
def test_two_hundred_captures_take_little_more_memory_than_one(columns: bool) -> None:
    _, (_, taken, ratio) = ratios((1, 200), columns=columns)
    assert ratio <= 1.3, taken


@pytest.mark.parametrize("columns", [False, True])
def test_all_are_told_of(columns: bool, tmp_path: Path) -> None:
    write_captures(tmp_path / "all", COUNT)
    (tmp_path / "all" / "000110.pcap").write_bytes(b"no capture")
    options = ["--columns"] if columns else []
    command = [sys.executable, "-m", "conformance", "replay", "all", *options, "--out", "out", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = json.loads(done.stdout)
    assert [one["path"] for one in said["captures"]] == [f"all/{number:06}.pcap" for number in range(COUNT)]
    assert [one["path"] for one in said["captures"] if one["error"]] == ["all/000110.pcap"]
    assert sum(one["packets"] for one in said["captures"]) == 26 * (COUNT - 1)
    assert said["exit_code"] == 2
    assert "000110.pcap" in said["sentence"]


def test_the_sums_are_those_of_each(tmp_path: Path) -> None:
    write_captures(tmp_path / "all", COUNT)
    write_captures(tmp_path / "one", 1)
    many = replay_captures([tmp_path / "all"], out=tmp_path / "out").replay
    one = replay_captures([tmp_path / "one"], out=tmp_path / "out-one").replay
    assert many.outcomes[Outcome.PASS] == COUNT * one.outcomes[Outcome.PASS]
    assert many.requirements == one.requirements
    assert many.packets == COUNT * one.packets
    assert len(many.captures) == MAX_NAMED
    assert {found.capture for found in many.counted} >= {FURTHER, str(tmp_path / "all" / "000000.pcap")}


def test_they_are_judged_again_with_the_same_sums(tmp_path: Path) -> None:
    write_captures(tmp_path / "all", 12)
    replay_captures([tmp_path / "all"], out=tmp_path / "out")
    command = [sys.executable, "-m", "conformance", "judge", "out", "--out", "again", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    before, after = (_passes(tmp_path / name) for name in ("out", "again"))
    assert after == before


def _passes(folder: Path) -> dict[str, int]:
    from conformance.runlog import read_run

    found: dict[str, int] = {}
    for one in read_run(folder).said:
        found[one.requirement] = found.get(one.requirement, 0) + one.seen
    return found


RICH = dissect(encode("UserMessage", {**PLAIN, **ASKING, **SOAP, **MULTI, **WITH_SID, **TRANSACTION}))
AT = RICH.spans["MessagePropertiesHeader"][0] + 5


def message(number: int, *, odd: bool) -> bytes:
    """Encode a message; an odd one has bytes in a header that no single deviation explains."""
    data = patch(RICH, {"UserHeader.MessageID": number})
    noise = bytes((7 * number + 13 * at) % 251 + 1 for at in range(35))
    return data[:AT] + noise + data[AT + 35 :] if odd else data


def written(path: Path, count: int, *, odd: bool) -> Path:
    """Write a capture of an opened session and so many messages."""
    events = captured("consistent-session")
    first = frame(events, 7)
    end = events.index(frame(events, 6)) + 1
    messages = [
        replace(first, data=message(at, odd=odd), number=10 + at, time_ns=first.time_ns + at * 1000)
        for at in range(1, count + 1)
    ]
    opened = [one for one in events[:end] if not isinstance(one, Closed)]
    path.write_bytes(capture_of([*opened, *messages]))
    assert all(isinstance(one, Frame) for one in messages)
    return path


def broken(verdicts: list[Verdict]) -> list[tuple[str, Outcome]]:
    return [(one.requirement, one.outcome) for one in verdicts]


def test_without_tries_left_the_plain_verdicts_are_told() -> None:
    data, search = encode("UserMessage", {**PLAIN, **TRANSACTION}), Search(left=1)
    odd = patch(dissect(data), {"UserHeader.Flags.TH": 0})
    told = [
        broken(list(judge_dissected(dissect(odd), profile="msmq-4.0", transport="buffer", search=search)))
        for _ in range(2)
    ]
    assert ("MQMQ-2.2.19.2.transaction-header-absent", Outcome.FAIL) in told[0]
    assert ("MQMQ-2.2.19.2.transaction-header-absent", Outcome.FAIL) not in told[1]
    plain = broken(list(judge_packet(odd, profile="msmq-4.0", transport="buffer", explain=False)))
    assert {one for one in told[1] if one[1] is Outcome.FAIL} <= set(plain)
    assert search.left <= 0 and search.unsearched == 1


def test_a_right_packet_costs_no_tries() -> None:
    search = Search(left=5)
    judge_dissected(RICH, profile="msmq-4.0", transport="buffer", search=search)
    assert search == Search(left=5)


def test_each_capture_has_its_tries_and_says_how_many_packets_had_no_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis, "TRIES", 60)
    monkeypatch.setattr(Search.__init__, "__defaults__", (60, 0, None))
    paths = [written(tmp_path / f"{name}.pcap", 12, odd=True) for name in "ab"]
    result = conformance.replay(paths, out=tmp_path / "run").replay
    first, second = (capture.unsearched for capture in result.captures)
    assert 0 < first == second < 12
    assert sum("without a search" in line for line in notes(result)) == 2


def test_odd_packets_beyond_the_bound_cost_at_most_three_times_as_much_as_right_ones() -> None:
    took = {}
    for odd in (False, True):
        packets = [dissect(message(number, odd=odd)) for number in range(200)]
        begun = time.process_time()
        for packet in packets:
            again = dissect(packet.data)
            judge_dissected(again, profile="msmq-4.0", transport="buffer", search=Search(left=0))
        took[odd] = time.process_time() - begun
    assert took[True] <= 3 * took[False] + 0.05
