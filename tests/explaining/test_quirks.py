"""Quirks are found, named, known again and gone on behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from conformance import __version__
from conformance.embedded.driver import METHODS
from conformance.embedded.faults import FAULTS
from conformance.explaining.causes import told_of
from conformance.explaining.continuation import Asked, heard
from conformance.explaining.playing import AnswerComparer, Implementation, implementation_of
from conformance.explaining.quirks import KnownQuirk, Quirk, Quirks, Shared, tables, usable
from conformance.harness.connecting import open_client
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.known_deviations import LazyDeviations
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.harness.run_session import hello_json
from conformance.harness.tape import Tape
from conformance.histories.situations.book import Planned
from conformance.histories.situations.play import Player
from conformance.histories.situations.situation import space
from conformance.model import Call
from conformance.spec.catalogue import assignment

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows", {}), "windows", 0, 1, 30)
SENDS = (
    Call("queues.create", queue="q1"),
    Call("queues.open", name="h1", queue="q1", access="send"),
    Call("queues.open", name="h2", queue="q1", access="receive"),
    Call("messages.send", handle="h1", message="a"),
    Call("messages.send", handle="h1", message="b", priority=7),
)
MASKED = (
    *SENDS,
    Call("messages.peek", handle="h2"),
    Call("queues.delete", queue="q1"),
    Call("queues.create", queue="q2"),
    Call("queues.open", name="h3", queue="q2", access="receive"),
    Call("queues.open", name="h4", queue="q2", access="send"),
    Call("messages.send", handle="h4", message="c"),
    Call("cursors.open", name="c1", handle="h3"),
    Call("messages.peek_next", handle="h3", cursor="c1"),
)
"""A history whose first deviation hides another one."""


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[GuardedClient]:
    with TemporaryDirectory() as folder:
        opened = open_client(request.param, state_dir=Path(folder), in_process=True, deadline_ms=10_000)
        yield GuardedClient(opened)
        opened.close()


def quirks_of(client: GuardedClient, loaded: Sequence[KnownQuirk] = ()) -> Quirks:
    return Quirks(lambda: implementation_of(hello_json(client), OPTIONS.profile, {}), loaded)


def played(
    client: GuardedClient, quirks: Quirks | LazyDeviations | None, *histories: tuple[Call, ...]
) -> list[tuple[ConformanceFailure, str | None]]:
    tape = Tape(set(), lambda example: None)
    judge = Recorder(OPTIONS, lambda verdict, count: None, tape=tape, past=quirks)
    player = Player(client.taped(tape), judge, OPTIONS, space())
    met = ((),) * max(map(len, histories))
    player.play(
        [Planned(number, calls, met[: len(calls)], False, frozenset(), 0) for number, calls in enumerate(histories)]
    )
    told = player.told(10.0)
    return quirks.filed(told) if quirks is not None else [(failure, None) for failure in told]


def blamed(found: Sequence[tuple[ConformanceFailure, str | None]]) -> set[str]:
    return {failure.verdict.requirement for failure, reason in found if reason is None}


PAIR = ("ignores-priority", "peek-next-on-unread-cursor")


@pytest.mark.parametrize("client", [f"embedded+{','.join(PAIR)}"], indirect=True)
def test_what_stands_behind_a_deviation_is_a_finding_of_its_own(client: GuardedClient) -> None:
    first = blamed(played(client, None, MASKED))
    assert first == {"MQMQ-2.2.19.1.higher-priority-nearer-front"}
    quirks = quirks_of(client)
    found = blamed(played(client, quirks, MASKED))
    assert found > first and all(found & set(FAULTS[name].breaks) for name in PAIR)
    assert set(quirks.bodies) == set(PAIR)
    quirks.close()


@pytest.mark.parametrize("client", [f"embedded+{PAIR[0]}"], indirect=True)
def test_a_consequence_is_blamed_on_nobody(client: GuardedClient) -> None:
    reads = Call("messages.receive", handle="h2", cursor="c1")
    behind = (*SENDS[:4], Call("cursors.open", name="c1", handle="h2"), reads, SENDS[4], reads)
    assert len(blamed(played(client, None, MASKED[:6], behind))) == 2
    quirks = quirks_of(client)
    found = played(client, quirks, MASKED[:6], behind)
    assert blamed(found) == {"MQMQ-2.2.19.1.higher-priority-nearer-front"}
    assert {"MQDMPR-3.2.7.4.continues"} <= set(quirks.known[0].filed)
    assert all("`ignores-priority`" in reason for _, reason in found if reason is not None)
    assert quirks.known[0].behind == 2  # both histories, to their end
    quirks.close()


@pytest.mark.parametrize("client", ["embedded"], indirect=True)
def test_without_deviations_nothing_is_made(client: GuardedClient) -> None:
    lazy = LazyDeviations(lambda: pytest.fail("nothing deviates"))
    assert played(client, lazy, MASKED[:5]) == [] and lazy.evidence() == [] and lazy.notes() == []


KNOWN = KnownQuirk("MQMQ-2.2.19.1.higher-priority-nearer-front", ("ignores-priority",))


@pytest.mark.parametrize("client", [f"embedded+{PAIR[0]}"], indirect=True)
def test_a_quirk_of_the_baseline_counts_once_it_has_shown(client: GuardedClient) -> None:
    other = KnownQuirk("MQDMPR-3.1.4.5.wakes-readers", ("abort-wakes-nobody",))
    quirks = quirks_of(client, [KNOWN, other])
    assert not quirks.known
    played(client, quirks, MASKED[:6])
    assert [quirk.faults for quirk in quirks.known] == [("ignores-priority",)]
    (note,) = quirks.notes()
    assert "abort-wakes-nobody" in note and "was not seen" in note
    quirks.close()


@pytest.mark.parametrize("client", [f"embedded+{PAIR[0]}"], indirect=True)
def test_nothing_is_filed_under_a_quirk_that_was_never_blamed(client: GuardedClient) -> None:
    reads = Call("messages.receive", handle="h2", cursor="c1")
    behind = (*SENDS[:4], Call("cursors.open", name="c1", handle="h2"), reads, SENDS[4], reads)
    quirks = quirks_of(client, [KNOWN])
    found = played(client, quirks, behind)
    assert blamed(found) == {"MQDMPR-3.2.7.4.continues"} == {quirk.requirement for quirk in quirks.known}
    quirks.close()


BOTH = ("peek-next-answers-information", "peek-next-on-unread-cursor")
CURSOR = (
    *SENDS[:4],
    Call("cursors.open", name="c1", handle="h2"),
)
READ = (*CURSOR, Call("messages.peek", handle="h2", cursor="c1"), SENDS[4])
SEND_C = Call("messages.send", handle="h1", message="c")
NEXT = Call("messages.peek_next", handle="h2", cursor="c1")


@pytest.mark.parametrize("client", [f"embedded+{','.join(BOTH)}"], indirect=True)
def test_what_two_quirks_explain_together_is_blamed_on_the_one_that_breaks_it(client: GuardedClient) -> None:
    quirks = quirks_of(client)
    found = blamed(
        played(client, quirks, (*READ[:4], Call("messages.send", handle="h1", message="b"), *READ[4:6], NEXT))
    )
    assert found == {"MQDMPR-3.1.7.1.14.mq-ok"}
    found = blamed(played(client, quirks, (*CURSOR, NEXT)))
    assert found == {"MQDMPR-3.2.7.3.illegal-cursor-action"}
    quirks.close()


@pytest.mark.parametrize("client", [f"embedded+{','.join(BOTH)}"], indirect=True)
def test_histories_that_end_with_what_nothing_explains_are_counted(client: GuardedClient) -> None:
    quirks = quirks_of(client)
    played(client, quirks, (*CURSOR, NEXT), (*CURSOR, SENDS[4], NEXT), (*CURSOR, SENDS[4], SEND_C, NEXT))
    assert [each["met"] for each in quirks.evidence() if not each["faults"]] == [3]
    quirks.close()


@pytest.mark.parametrize("client", [f"embedded+{PAIR[0]}"], indirect=True)
def test_a_fault_that_passed_stories_contradict_is_no_body(client: GuardedClient, tmp_path: Path) -> None:
    quirks = quirks_of(client)
    conforming = open_client("embedded", state_dir=tmp_path, in_process=True, deadline_ms=10_000)
    for label in "bcd":  # an implementation that changes its mind
        tape = Tape(set(), lambda example: None)
        judge = Recorder(OPTIONS, lambda verdict, count: None, tape=tape, past=quirks)
        player = Player(GuardedClient(conforming, tape=tape), judge, OPTIONS, space())
        calls = (*SENDS[:4], Call("messages.send", handle="h1", message=label, priority=7), MASKED[5])
        player.play([Planned(0, calls, ((),) * len(calls), False, frozenset(), 0)])
    conforming.close()
    assert blamed(played(client, quirks, MASKED[:6]))
    assert quirks.bodies == ()
    quirks.close()


@pytest.mark.parametrize("client", [f"embedded+{PAIR[0]}"], indirect=True)
def test_a_worker_knows_what_another_one_has_found(client: GuardedClient, tmp_path: Path) -> None:
    def worker(name: str) -> Quirks:
        implementation = implementation_of(hello_json(client), OPTIONS.profile, {})
        return Quirks(lambda: implementation, shared=Shared(tmp_path / "told", name))

    first, second = worker("gw0"), worker("gw1")
    assert blamed(played(client, first, MASKED[:6])) == {KNOWN.requirement}
    reads = Call("messages.receive", handle="h2", cursor="c1")
    found = played(client, second, (*CURSOR, reads, SENDS[4], reads))
    assert blamed(found) == set() and second.known[0].filed == {"MQDMPR-3.2.7.4.continues": 1}
    assert second.notes() == []
    (tmp_path / "told" / "gw7-1.json").write_text("{")
    assert blamed(played(client, worker("gw2"), MASKED[:6])) == set()  # it is blamed already; damage is left out
    first.close()
    second.close()


@pytest.mark.parametrize("client", [f"embedded+{','.join(PAIR)}"], indirect=True)
def test_what_no_fault_explains_is_asked_for_in_shorter_stories(
    client: GuardedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(methods: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in told_of(methods) if name != PAIR[1])

    monkeypatch.setattr("conformance.explaining.continuation.told_of", lacking)
    quirks = quirks_of(client)
    found = played(client, quirks, MASKED)
    assert blamed(found) == {"MQMQ-2.2.19.1.higher-priority-nearer-front", "MQDMPR-3.2.7.3.illegal-cursor-action"}
    (shown,) = [each for each, _ in found if each.verdict.requirement == "MQDMPR-3.2.7.3.illegal-cursor-action"]
    assert shown.verdict.reason is None and len(shown.repro["calls"]) <= 6  # the implementation itself failed in it
    quirks.close()


def test_a_driver_that_lacks_a_method_is_not_asked_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as lacking:
        offered = {name: method for name, method in METHODS.items() if name != "queues.delete"}
        lacking.setattr("conformance.embedded.driver.METHODS", offered)
        opened = open_client(f"embedded+{','.join(PAIR)}", state_dir=tmp_path, in_process=True, deadline_ms=10_000)
    client = GuardedClient(opened, skips=True)
    quirks = quirks_of(client)
    found = blamed(played(client, quirks, MASKED))
    assert all(found & set(FAULTS[name].breaks) for name in PAIR)
    quirks.close()
    opened.close()


EXPIRY = ("time-to-be-received-ignored", "wrong-timeout-status")


@pytest.mark.parametrize("client", [f"embedded+{','.join(EXPIRY)}"], indirect=True)
def test_what_several_quirks_explain_together_is_filed_under_one_that_it_needs(client: GuardedClient) -> None:
    calls = (
        *SENDS[:3],
        Call("messages.send", handle="h1", message="a", live_s=1, dead_letter=True),
        Call("queues.open", name="d", queue="SYSTEM;DEADLETTER", access="receive"),
        Call("clock.advance", by_ms=2_500),
        Call("messages.receive", handle="d"),
    )
    told = heard(client, [Asked(call) for call in calls])
    assert told is not None
    told = replace(told, failed=("MQDMPR-3.1.7.2.7.dead-letter",))
    quirks = quirks_of(client)
    for name in ("delivers-twice", *reversed(EXPIRY)):
        quirks._add(Quirk(FAULTS[name].breaks[0], (name,), blamed=True))
    found = quirks._of(told)
    assert found is not None and found.faults == (EXPIRY[0],)
    quirks.close()


PRIORITY = "MQMQ-2.2.19.1.higher-priority-nearer-front"
TABLE: Mapping[str, Any] = {
    "version": __version__,
    "requirement": PRIORITY,
    "faults": ["ignores-priority"],
    "story": ["send 'a' to q1 -> ok"],
    "calls": '[{"method": "messages.send"}]',
}


def test_what_a_run_has_met_is_used_again() -> None:
    met = {"requirement": PRIORITY, "faults": ["ignores-priority"], "story": ["s"], "calls": [{"method": "m"}]}
    bodyless = {**met, "faults": []}
    (quirk,), told = usable(tables([met, met, bodyless]))
    assert (quirk.requirement, quirk.faults, quirk.story) == (PRIORITY, ("ignores-priority",), ("s",))
    assert quirk.calls == ({"method": "m"},) and told == ()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": "0.0.1"}, "of version '0.0.1'"),
        ({"version": None}, "of version None"),
        ({"faults": ["ignores-prioritie"]}, "no fault 'ignores-prioritie'; did you mean ignores-priority"),
        ({"faults": []}, "names no faults"),
        ({"requirement": "MQMQ-1.no"}, "no requirement 'MQMQ-1.no'"),
        ({"calls": "{"}, "not JSON"),
        ({"calls": "[1]"}, "no list of calls"),
        ({"story": "s"}, "no list of texts"),
        ({"body": 1}, "unknown member 'body'"),
    ],
)
def test_a_quirk_that_cannot_be_used_is_told_in_one_sentence(change: Mapping[str, Any], why: str) -> None:
    (other,), told = usable([{**TABLE, **change}, {**TABLE, "calls": "[]"}])
    assert other.faults == ("ignores-priority",)
    (sentence,) = told
    assert sentence.startswith("The quirk 1 of the baseline is not used: ") and why in sentence
    assert sentence.endswith(".") and not sentence.endswith(("..", "?."))


def test_quirks_that_contradict_each_other_are_both_left_out() -> None:
    left, told = usable([TABLE, {**TABLE, "faults": ["last-gives-first"]}])
    assert left == () and len(told) == 1 and PRIORITY in told[0]
    assert usable([TABLE, TABLE])[1] == ()


OURS = Implementation(computer="HOST", queue_manager="db0760c6-b874-5485-9d0b-bf112870b534")
THEIRS = Implementation(computer="BOX", queue_manager="00000000-0000-0000-0000-000000000001")
Answer = Mapping[str, Any]


def differing(*answers: tuple[Answer, Answer], method: str = "messages.peek") -> list[list[str]]:
    names = AnswerComparer(THEIRS, OURS)
    return [list(names.differing(method, theirs, ours)) for theirs, ours in answers]


def test_a_name_is_bound_at_its_first_appearance_and_stands_for_the_other_from_then_on() -> None:
    names = AnswerComparer(THEIRS, OURS)
    assert not list(names.differing("queues.open", {"queue": 7}, {"queue": "h1"}))
    assert names.asked({"queue": 7, "timeout_ms": 7}) == {"queue": "h1", "timeout_ms": 7}


@pytest.mark.parametrize(
    ("second", "differs"),
    [
        (({"lookup_identifier": "5"}, {"lookup_identifier": "50"}), []),
        (({"lookup_identifier": "5"}, {"lookup_identifier": "51"}), ["lookup_identifier"]),
        (({"lookup_identifier": "6"}, {"lookup_identifier": "50"}), ["lookup_identifier"]),
        (({"lookup_identifier": "6"}, {"lookup_identifier": "99"}), []),
        (({"lookup_identifier": "4"}, {"lookup_identifier": "99"}), ["lookup_identifier"]),
    ],
    ids=["the same", "ours moved on", "ours repeats", "both greater", "another order"],
)
def test_identifiers_agree_in_sameness_and_order(second: tuple[Answer, Answer], differs: list[str]) -> None:
    assert differing(({"lookup_identifier": "5"}, {"lookup_identifier": "50"}), second)[1] == differs


def test_times_agree_in_their_distance() -> None:
    first = {"time_ms": 1000}, {"time_ms": 5000}
    assert differing(first, ({"time_ms": 1250}, {"time_ms": 5250}))[1] == []
    assert differing(first, ({"time_ms": 1250}, {"time_ms": 5251}))[1] == ["time_ms"]


def test_the_computers_name_and_bound_format_names_are_replaced_in_texts() -> None:
    names = AnswerComparer(THEIRS, OURS)
    theirs, ours = {"format_name": "PRIVATE=X\\1"}, {"format_name": "DIRECT=OS:HOST\\private$\\q"}
    assert not list(names.differing("queues.create", theirs, ours))
    asked = names.asked({"format_name": "PRIVATE=X\\1", "message": {"admin": "BOX\\q", "several": "PRIVATE=X\\1,z"}})
    assert asked["format_name"] == ours["format_name"]
    assert asked["message"] == {"admin": "HOST\\q", "several": f"{ours['format_name']},z"}


def test_members_that_one_side_lacks_differ_and_values_are_compared_with_their_types() -> None:
    told = differing(
        ({"message": {"body": "YQ==", "trace": True}}, {"message": {"body": "Yg==", "trace": 1, "class": 0}})
    )
    assert told == [["message.body", "message.trace", "message.class"]]


def test_what_is_parsed_is_a_value_and_no_name() -> None:
    parsed = {"parts": {"queue": "a"}}, {"parts": {"queue": "b"}}
    assert differing(parsed, method="names.parse") == [["value"]]


REMOTE = "DIRECT=TCP:192.0.2.7\\private$\\far"


def taken(folder: Path, labels: str, *, before: int, faults: str = "") -> Answer:
    """What a manager transfers that has sent so many messages before."""
    client = open_client(
        f"embedded{faults}", state_dir=folder / f"{before}{faults}", in_process=True, deadline_ms=10_000
    )
    try:
        client.call("clock.advance", by_ms=5_000 * before)
        queue = client.call("queues.open", format_name=REMOTE, access="send").values["queue"]
        client.call("outgoing.resume", format_name=REMOTE)
        for label in (*"x" * before, *labels):
            if label == labels[0]:
                client.call("outgoing.take", format_name=REMOTE)
            client.call("messages.send", queue=queue, message={"label": label, "priority": ord(label) % 8, "body": ""})
        return client.call("outgoing.take", format_name=REMOTE).to_json()
    finally:
        client.close()


@pytest.mark.parametrize(("faults", "agree"), [("", True), ("+ignores-priority", False)])
def test_packets_are_compared_by_their_fields(tmp_path: Path, faults: str, agree: bool) -> None:
    theirs, ours = taken(tmp_path, "ag", before=2, faults=faults), taken(tmp_path, "ag", before=0)
    assert len(theirs["packets"]) == len(ours["packets"]) == 2 and theirs != ours
    assert (differing((theirs, ours), method="outgoing.take") == [[]]) is agree
