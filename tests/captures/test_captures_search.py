"""The search for causes is bounded in a capture: what comes later is told with the plain verdicts, and counted."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from session_captures import capture_of

import conformance
from conformance.capture import Closed, Frame
from conformance.cli.replay import notes
from conformance.judge.packets import diagnosis
from conformance.judge.packets.diagnosis import Search
from conformance.judge.packets.judge import judge_dissected, judge_packet
from conformance.judge.packets.rules_lists import MULTI, SOAP
from conformance.judge.packets.rules_security import WITH_SID
from conformance.judge.packets.rules_user import ASKING, TRANSACTION
from conformance.judge.rules import PLAIN
from conformance.judge.sessions.mutations import captured, frame
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect, encode, patch

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
