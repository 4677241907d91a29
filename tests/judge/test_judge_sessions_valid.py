"""Sessions that are valid or permitted pass; a spoiled one breaks its requirement."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest
from cases import all_of
from nightly import SEED, amount
from session_captures import capture_of
from session_columns_beside import compare
from session_conversations import conversation

from conformance.capture import Closed, Event, Frame, Opened
from conformance.judge.packets import judge_packet
from conformance.judge.sessions.context import BODY
from conformance.judge.sessions.judge import judge_sessions
from conformance.judge.sessions.mutations import (
    BETA,
    MUTATIONS,
    STRANGER,
    Edit,
    captured,
    copy,
    delayed,
    drop,
    failed,
    flip,
    frame,
    later,
    put,
    rebuilt,
)
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome
from conformance.wire import dissect

SEEDS = range(int(SEED) * 10_000, int(SEED) * 10_000 + amount("sessions.conversations"))
SOME = SEEDS[:3]
# A sequence goes on in another session, where its first message may have been sent before the capture began.
UNKNOWN = {"MQQB-3.1.1.5.first-number"}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_valid_conversation_passes(seed: int) -> None:
    said = list(judge_sessions(conversation(seed), readings=assignment("windows")))
    wrong = [one for one in said if one.outcome is not Outcome.PASS and one.requirement not in UNKNOWN]
    assert not wrong, wrong[0]
    assert {one.outcome for one in said} <= {Outcome.PASS, Outcome.INCONCLUSIVE}


@pytest.mark.parametrize("seed", SOME)
def test_its_packets_pass(seed: int) -> None:
    for each in conversation(seed):
        if isinstance(each, Frame) and each.transport == "tcp":
            said = judge_packet(each.data, profile="msmq-4.0", transport="buffer", level="must")
            assert {one.outcome for one in said} <= {Outcome.PASS, Outcome.READING, Outcome.WARN}, said


@pytest.mark.parametrize("seed", SOME)
def test_compiled_code_agrees(seed: int, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    path = tmp_path / "conversation.pcap"
    path.write_bytes(capture_of(conversation(seed)))
    compare(path, assignment("windows"), lambda count: [count // 3, count // 2])


def test_conversations_have_every_kind_of_packet_and_several_sessions() -> None:
    made = [conversation(seed) for seed in SEEDS]
    frames = [one for events in made for one in events if isinstance(one, Frame)]
    kinds = Counter(dissect(one.data, transport=one.transport).kind for one in frames)
    assert {"Ping", "EstablishConnection", "ConnectionParameters", "SessionAck", "OrderAck", "UserMessage"} == set(
        kinds
    )
    sessions = [sum(isinstance(one, Opened) for one in events) for events in made]
    assert {1, 2, 3} == set(sessions)
    classes = {dissect(one.data).fields.get("MessagePropertiesHeader.MessageClass") for one in frames}
    assert {0, 2, 0xFF} <= classes


LABEL = "MessagePropertiesHeader.Label"
COOKIE, STAMP, SENT = "Ping.Cookie", "EstablishConnectionHeader.TimeStamp", "UserHeader.SentTime"
SESSION, TX, RESTORED = "SessionHeader", "TransactionHeader", (0x65535000 + 500) << 32 | 1
SOURCE = "UserHeader.SourceQueueManager"


def moved_to(connection: int, number: float) -> Edit:
    """Put a frame on another connection of the same hosts."""

    def change(events: list[Event]) -> list[Event]:
        return [
            replace(one, connection=connection) if isinstance(one, Frame) and one.number == number else one
            for one in events
        ]

    return change


def closed_before(connection: int, number: float) -> Edit:
    """End a connection before a frame."""

    def change(events: list[Event]) -> list[Event]:
        at = events.index(frame(events, number))
        end = next(one for one in events if isinstance(one, Closed) and one.connection == connection)
        rest = [one for one in events[at:] if one is not end]
        return [*events[:at], replace(end, time_ns=frame(events, number).time_ns), *rest]

    return change


def bracketed(number: float) -> Edit:
    """Name another target queue in a report of a message that was not seen."""

    def change(events: list[Event]) -> list[Event]:
        packet = dissect(frame(events, number).data)
        body = bytes(packet.fields[BODY]).decode("utf-16-le")  # type: ignore[arg-type]
        name = re.sub("<TARGET QUEUE>.*</TARGET", r"<TARGET QUEUE>DIRECT=OS:h\\a<b</TARGET", body)
        unseen = name.replace("1C21", "1C2F"), str(packet.fields[LABEL]).replace("1C21", "1C2F")
        return rebuilt(number, {BODY: unseen[0].encode("utf-16-le"), LABEL: unseen[1]})(events)

    return change


def opened(milliseconds: int) -> Edit:
    """Move the beginnings of all connections in time."""
    shift = milliseconds * 1_000_000
    return lambda events: [
        replace(one, time_ns=one.time_ns + shift) if isinstance(one, Opened) else one for one in events
    ]


PERMITTED: dict[str, tuple[str, list[Edit]]] = {
    "cookies begin with 1 again after a restart": ("resending-session", [put(n, COOKIE, 1) for n in (1, 2, 62, 63)]),
    "messages reach the disk in another order": (
        "consistent-session",
        [
            put(12, f"{SESSION}.RecoverableMsgAckFlags", 0b1101),
            put(23, f"{SESSION}.RecoverableMsgAckSeqNumber", 2),
            put(23, f"{SESSION}.RecoverableMsgAckFlags", 0b1001),
        ],
    ),
    "a restored queue manager begins a new sequence": (
        "reconnecting-session",
        [
            copy(
                6, 24, put(-1, "UserHeader.MessageID", 7204), put(-1, f"{TX}.TxSequenceID", RESTORED),
                flip(-1, f"{TX}.Flags", 0b11 << 4),
            ),
            moved_to(3, 24.5),
        ],
    ),
    "one SentTime lies in the future": ("resending-session", [put(7, SENT, 1_700_000_600)]),
    "the clock of a sender is set back": ("resending-session", [put(n, SENT, 1_700_000_600) for n in (7, 8)]),
    "a message comes back to its queue manager on its way": ("reconnecting-session", [flip(5, "UserHeader.Flags", 2)]),
    "a report names a queue whose name has a bracket": ("reconnecting-session", [bracketed(17)]),
    "a FinalAck tells of too many hops": (
        "resending-session", [put(24, "MessagePropertiesHeader.MessageClass", 0x8005)],
    ),
    "a connection is tried again soon after a ping without an answer": (
        "consistent-session",
        [drop(2), flip(3, "EstablishConnectionHeader.OperatingSystem", 0x100),
         flip(4, "EstablishConnectionHeader.OperatingSystem", 0x100), later(3, 2_500)],
    ),
    "the request is lost before the recorder and sent again": (
        "consistent-session",
        [*(delayed(n, -3_000) for n in (1, 2)), opened(-3_000),
         *(put(n, "ConnectionParametersHeader.RecoverableAckTimeout", 24_000) for n in (5, 6)), drop(23, 24),
         later(12, 24_000)],
    ),
    "another queue manager takes over an address": (
        "resending-session", [closed_before(1, 62), closed_before(2, 62), put(63, "Ping.QMGuid", STRANGER.bytes_le)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PERMITTED)
def test_what_is_permitted_is_not_accused(case: str) -> None:
    capture, edits = PERMITTED[case]
    events = captured(capture)
    for edit in edits:
        events = edit(events)
    assert not failed(events)


@pytest.mark.parametrize("number", [7, 8])
def test_a_message_that_names_no_maker_blames_neither_its_hops_nor_the_opening(number: int) -> None:
    found = failed(put(number, SOURCE, bytes(16))(captured("consistent-session")))
    assert not found & {"MQQB-3.1.5.8.2.hop-count", "MQQB-3.1.5.2.3.client-guid"}


def test_a_message_stored_and_acknowledged_twice_is_accused_whatever_the_order() -> None:
    events = put(12, f"{SESSION}.RecoverableMsgAckFlags", 0b1101)(captured("consistent-session"))
    events = put(23, f"{SESSION}.RecoverableMsgAckSeqNumber", 2)(events)
    events = put(23, f"{SESSION}.RecoverableMsgAckFlags", 0b1101)(events)
    assert failed(events) == {"MQQB-3.1.6.4.recoverable-once"}


def test_a_takeover_during_a_session_is_accused() -> None:
    events = put(63, "Ping.QMGuid", STRANGER.bytes_le)(captured("resending-session"))
    assert failed(events) == {"MQQB-2.2.7.response-qm-guid"}
    assert not failed(put(63, "Ping.QMGuid", BETA.bytes_le)(events))


INITIATOR = ((5, "ConnectionParametersHeader"),)
ACCEPTOR = ((6, "ConnectionParametersHeader"), *((n, "SessionHeader") for n in (9, 13, 16, 59, 61)))


def said(events, requirement, readings):
    verdicts = judge_sessions(events, readings=assignment(readings))
    return {
        (one.outcome, dict(one.readings).get("R-MQQB-window")) for one in verdicts if one.requirement == requirement
    }


def with_window(places):
    events = captured("resending-session")
    for number, section in places:
        events = put(number, f"{section}.WindowSize", 2)(events)
    return events


def test_the_window_of_either_side_may_be_the_limit():
    name = "MQQB-3.1.7.1.window"
    events = with_window(INITIATOR)
    assert name not in failed(events, "windows") and name in failed(events, "strict")
    assert (Outcome.READING, "received") in said(events, name, "windows")
    assert (Outcome.PASS, "own|received") in said(events, name, "windows")
    assert name not in failed(with_window(ACCEPTOR), "strict")
    assert name in failed(with_window(INITIATOR + ACCEPTOR), "permissive")


def test_an_acknowledged_number_that_was_not_accepted_is_a_reading_under_the_permissive_set():
    name = "MQQB-3.1.5.8.6.accepted"
    events = MUTATIONS[name].broken()
    assert name in failed(events, "windows") and name in failed(events, "strict")
    assert name not in failed(events, "permissive")


@pytest.mark.parametrize("days", [-10, 10])
def test_a_capture_with_another_clock_fails_nothing(days):
    events = later(1, days * 86_400_000)(captured("resending-session"))
    assert not failed(events)
    outcomes = {
        one.outcome
        for one in judge_sessions(events, readings=assignment("windows"))
        if one.requirement == "MQQB-3.1.7.1.2.expired"
    }
    assert outcomes == ({Outcome.PASS} if days < 0 else {Outcome.INCONCLUSIVE})


def test_an_expired_message_is_found_whatever_the_clock_of_the_capture():
    for days in (-10, 10):
        events = later(1, days * 86_400_000)(MUTATIONS["MQQB-3.1.7.1.2.expired"].broken())
        assert failed(events) == {"MQQB-3.1.7.1.2.expired"}


@pytest.mark.parametrize("own", [0x0100, 0x4001, 0x800C, 0xE1FF])
def test_a_class_an_application_made_up_is_no_administration_acknowledgment(own):
    """It expires, asks for journaling and correlates as the application likes (MS-MQMQ 2.2.18.1.6)."""
    events = put(7, "MessagePropertiesHeader.MessageClass", own)(captured("consistent-session"))
    found = failed(put(7, "BaseHeader.TimeToReachQueue", 60)(events))
    assert {name for name in found if name.startswith("MQQB-3.1.7.15.")} == set()


CLEAN = sorted({one.capture for one in MUTATIONS.values()})


def outcomes(events):
    return {one.outcome for one in judge_sessions(events, readings=assignment("windows"))}


@pytest.mark.parametrize("name", CLEAN)
def test_the_unspoiled_session_breaks_nothing(name):
    assert outcomes(captured(name)) == {Outcome.PASS}


@all_of("requirement", MUTATIONS)
def test_a_spoiled_session_breaks_its_requirement_and_what_is_declared(requirement):
    mutation = MUTATIONS[requirement]
    assert failed(mutation.broken(), mutation.readings) == {requirement, *mutation.also_breaks}


# What these demand comes after another deviation: the other side's, or the request that is wrongly answered.
AFTERWARDS = {name for name in MUTATIONS if name.endswith("-closes")}
AFTERWARDS |= {"MQQB-3.1.5.3.1.cs", "MQQB-3.1.5.8.6.accepted", "MQQB-2.2.7.signature-ignored"}


@all_of("requirement", MUTATIONS)
def test_the_first_to_be_blamed_is_what_was_broken(requirement):
    mutation = MUTATIONS[requirement]
    said = judge_sessions(mutation.broken(), readings=assignment(mutation.readings))
    wrong = [one for one in said if one.outcome is Outcome.FAIL]
    first = min(wrong, key=lambda one: one.frame)
    others = mutation.also_breaks if requirement in AFTERWARDS else ()
    assert first.requirement in (requirement, *others)


def test_a_mutation_breaks_at_most_two_others():
    assert not [name for name, mutation in MUTATIONS.items() if len(mutation.also_breaks) > 2]


@all_of("requirement", MUTATIONS)
def test_the_clean_capture_shows_the_requirement_kept(requirement):
    """A rule that says nothing of the clean capture could be one that never holds."""
    mutation = MUTATIONS[requirement]
    said = judge_sessions(mutation.valid(), readings=assignment("windows"))
    passed = {one.requirement for one in said if one.outcome is Outcome.PASS}
    assert requirement in passed or requirement in ONLY_BROKEN


# A faultless exchange gives no occasion to close, and these have acknowledgments of two kinds only.
ONLY_BROKEN = {name for name in MUTATIONS if name.endswith("-closes") or ".nack-" in name}
# Nor one to end a session that nothing acknowledges, or to send a message again there.
ONLY_BROKEN |= {"MQQB-3.1.6.3.closes", "MQQB-3.1.6.5.resent", "MQQB-3.1.1.6.1.discarded"}
ONLY_BROKEN |= {"MQQB-3.1.6.1.retransmitted", "MQQB-3.1.5.9.retried", "MQQB-3.1.5.8.1.duplicate"}
ONLY_BROKEN |= {"MQQB-3.1.7.13.paused"}  # Nor one to pause a queue.


def test_every_requirement_of_the_catalogue_file_has_its_mutation():
    text = resources.files("conformance.spec").joinpath("data", "mqqb-sessions.toml").read_text(encoding="utf-8")
    assert {one["id"] for one in tomllib.loads(text)["requirement"]} <= set(MUTATIONS)
