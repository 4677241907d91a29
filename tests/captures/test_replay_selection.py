"""The language of --filter."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.captures import JudgedPacket, replay
from conformance.captures.selection import KEYS, SelectionError, parse
from conformance.spec.catalogue import assignment
from conformance.verdict import ExitCode

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
