"""Past the first deviation: two faults in one implementation, judged by a few planned histories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from conformance.embedded.faults import FAULTS
from conformance.explaining.known_quirks import KnownQuirk
from conformance.explaining.quirks import Quirks
from conformance.explaining.stories import implementation_of
from conformance.harness.connecting import open_client
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.past import Lazy
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
    client: GuardedClient, quirks: Quirks | Lazy | None, *histories: tuple[Call, ...]
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
    lazy = Lazy(lambda: pytest.fail("nothing deviates"))
    assert played(client, lazy, MASKED[:5]) == [] and lazy.evidence() == [] and lazy.notes() == []


KNOWN = KnownQuirk("MQMQ-2.2.19.1.higher-priority-nearer-front", ("ignores-priority",))


@pytest.mark.parametrize("client", [f"embedded+{PAIR[0]}"], indirect=True)
def test_a_quirk_of_the_baseline_counts_once_it_has_shown(client: GuardedClient) -> None:
    other = KnownQuirk("MQDMPR-3.1.4.5.wakes-readers", ("abort-wakes-nobody",))
    quirks = quirks_of(client, [KNOWN, other])
    assert quirks.known == ()
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
