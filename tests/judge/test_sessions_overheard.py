"""A server's connections judged apart by client, each part overhearing the others: together what one judge says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from nightly import fewer
from session_corpus import ROUND, write_sessions
from session_edits import edit

from conformance.capture import Ended, Event, Frame, Opened, read_capture
from conformance.judge.sessions.columns.parts import PartNotes
from conformance.judge.sessions.context import MESSAGES, Said
from conformance.judge.sessions.judge import SessionJudge
from conformance.judge.sessions.keys import FREQUENT
from conformance.judge.sessions.overheard import Overhearing
from conformance.spec.catalogue import assignment
from conformance.verdict import Verdict
from conformance.wire import dissect

SERVER = "10.4.0.0"
READINGS = assignment("windows")
FEW = settings(
    max_examples=fewer(20), deadline=None, derandomize=True, database=None,
    suppress_health_check=list(HealthCheck), phases=(Phase.explicit, Phase.generate),
)  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    """Four clients of one server, which deviate in part, and whose packets alternate."""
    path = tmp_path_factory.mktemp("sessions") / "served.pcap"
    write_sessions(path, 24 * ROUND, pairs=4, deviating=0.5, server=True)
    return list(read_capture(path))


def client(event: Event, opened: dict[int, Opened]) -> str | None:
    """The client of an event; None for the end of the capture."""
    if isinstance(event, Frame) and event.connection is None:
        ends = event.source.address, event.destination.address
    elif isinstance(event, Ended):
        return None
    else:
        one = opened[event.connection]
        ends = one.initiator.address, one.acceptor.address
    return next(end for end in ends if end != SERVER)


def heard(event: Event, begun: Counter[int]) -> bool:
    """Tell whether others overhear an event. begun: how much of each connection's opening has come."""
    if not isinstance(event, Frame) or event.connection is None or event.trouble is not None:
        return True
    packet = dissect(event.data, transport=event.transport)
    before = begun[event.connection]
    begun[event.connection] += packet.kind not in FREQUENT
    young = packet.kind in MESSAGES and event.source.address == SERVER
    return before < 4 or packet.kind not in FREQUENT or young or bool(event.gap_before)


def apart(events: Sequence[Event], *, hear: bool = True) -> list[Said]:
    """What is said by parts, one for each client."""
    opened = {one.connection: one for one in events if isinstance(one, Opened)}
    whose = [client(one, opened) for one in events]
    out: list[Verdict] = []
    firsts: dict[str, list[Verdict]] = {}
    for name in sorted({one for one in whose if one is not None}):
        judge, notes = SessionJudge(READINGS), PartNotes(READINGS)
        judge.replace_notes(notes)
        others, begun = Overhearing.by(judge.tables, READINGS), Counter[int]()
        said: list[Said] = []
        for event, its in zip(events, whose, strict=True):
            tells = heard(event, begun)
            if its in (name, None):
                said += judge.said(event)
            else:
                if hear and tells:
                    others.hear(event)
                if isinstance(event, Frame):
                    judge.reached = event.number
                    said += judge.pass_time(event.time_ns)
        assert not others.unsure
        mine = {id(one) for one in notes.first.values()}
        out += [one for one in said if isinstance(one, Verdict) and id(one) not in mine]
        for requirement, one in notes.first.items():
            firsts.setdefault(requirement, []).append(one)
    return [*out, *(min(found, key=lambda one: one.frame or 0) for found in firsts.values())]


def whole(events: Sequence[Event]) -> list[Said]:
    judge = SessionJudge(READINGS)
    return [said for one in events for said in judge.said(one)]


def test_parts_say_what_one_judge_says(served: list[Event]) -> None:
    assert Counter(map(repr, apart(served))) == Counter(map(repr, whole(served)))


def test_what_is_undecided_of_pings_is_said_once(served: list[Event]) -> None:
    """The pings of the server have the same cookie; a second apart, none of them is one captured twice."""
    pings = [one for one in served if isinstance(one, Frame) and one.connection is None]
    later = {id(one): replace(one, time_ns=one.time_ns + at * 1_000_000_000) for at, one in enumerate(pings)}
    events = [later.get(id(one), one) for one in served]
    said = Counter(map(repr, whole(events)))
    assert sum(count for text, count in said.items() if "MQQB-3.1.7.6.cookie" in text and "INCONCLUSIVE" in text) == 1
    assert Counter(map(repr, apart(events))) == said


def test_without_overhearing_they_do_not(served: list[Event]) -> None:
    assert Counter(map(repr, apart(served, hear=False))) != Counter(map(repr, whole(served)))


@FEW
@given(
    changes=st.lists(
        st.tuples(
            st.sampled_from(["drop", "again", "swap", "later", "lost", "late"]),
            st.integers(0, 2000), st.integers(0, 500), st.integers(0, 1 << 64),
        ),
        min_size=1, max_size=12,
    )
)  # fmt: skip
def test_edited(served: list[Event], changes: list[tuple[str, int, int, int]]) -> None:
    events = list(served)
    for change in changes:
        edit(events, *change)
    assert Counter(map(repr, apart(events))) == Counter(map(repr, whole(events)))
