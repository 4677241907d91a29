"""Bad answers about management get a verdict, and large ones in bounded time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from distorting import Distorting, silent

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, ConformanceFailures, Recorder, RunOptions
from conformance.histories import stage_event_pairs
from conformance.histories.examples import GET, begin, of_machine, of_queue, send, transfer
from conformance.histories.stage_event_pairs import (
    BEHIND,
    LOCAL_EVENTS,
    LOCAL_OPENING,
    LOCAL_STAGES,
    REMOTE_EVENTS,
    REMOTE_OPENING,
    REMOTE_STAGES,
    at,
    beside,
)
from conformance.histories.switch_cover import TOURS, Tour, acknowledged, tour
from conformance.model import Call
from conformance.model.management_rows import ROWS
from conformance.spec.catalogue import assignment
from conformance.suites.management import incoming_story, unmodelled_stories
from conformance.suites.management.unmodelled_stories import PEEKS, RECEIVES, REPORTS
from conformance.verdict import Outcome, Verdict

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 10, 10)
MANY = 100_000
COUNT = "PROPID_MGMT_QUEUE_MESSAGE_COUNT"
ANSWER = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with connect("embedded", state_dir=tmp_path_factory.mktemp("state"), in_process=True) as found:
        yield found


def answering(client: Client, change: ANSWER) -> Any:
    """Return a client whose answers to management.get are changed."""
    changing = Distorting(client, lambda method, params: None, silent)

    def call(method: str, **params: Any) -> Any:
        result = client.call(method, **params)
        if method == GET and result.ok:
            result.values["values"] = change(list(result.values["values"]))
        return result

    changing.call = call  # type: ignore[method-assign]
    return changing


def judged(run: Callable[[Recorder], object]) -> list[Verdict]:
    """Return the verdicts of what a test does, the failing one last."""
    seen: list[Verdict] = []
    judge = Recorder(OPTIONS, lambda verdict, count: seen.append(verdict))
    try:
        run(judge)
    except ConformanceFailures as several:
        return [*seen, several.exceptions[0].verdict]
    except ConformanceFailure as failure:
        return [*seen, failure.verdict]
    judge.flush()
    return seen


def failed(verdicts: list[Verdict]) -> str | None:
    return next((one.requirement for one in verdicts if one.outcome is Outcome.FAIL), None)


def looked(mq: Any, *words: str) -> Callable[[Recorder], object]:
    return lambda judge: begin(mq, judge, mq.need, GET).run(send("a"), of_queue(judge, "q1", *words))


@pytest.mark.parametrize(
    "change",
    [lambda values: values[:-1], lambda values: [*values, values[0]], lambda values: []],
    ids=["one less", "one more", "none"],
)
def test_another_number_of_values_than_was_asked_for_fails(client: Client, change: ANSWER) -> None:
    assert failed(judged(looked(answering(client, change)))) == "MQMR-3.1.4.1.get"


def test_a_hundred_thousand_active_queues_are_read_in_bounded_time(client: Client) -> None:
    many = [f"DIRECT=TCP:192.0.2.7\\private$\\q{number}" for number in range(MANY)]
    mq = answering(client, lambda values: [{**one, "value": [*one["value"], *many]} for one in values])
    began = time.process_time()

    def run(judge: Recorder) -> None:
        begin(mq, judge, mq.need, GET).run(of_machine(judge, "ACTIVEQUEUES"))

    verdicts = judged(run)
    assert failed(verdicts) is None
    assert time.process_time() - began < 20
    assert all(len(str(one.actual)) < 10_000 for one in verdicts)


def test_a_count_that_runs_backwards_fails(client: Client) -> None:
    left = iter(range(9, 0, -1))

    def backwards(values: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{"vt": 19, "value": next(left)} for _ in values]

    mq = answering(client, backwards)

    def run(judge: Recorder) -> None:
        look = of_queue(judge, "q1", "MESSAGE_COUNT")
        begin(mq, judge, mq.need, GET).run(send("a"), look, send("b"), look)

    assert failed(judged(run)) == ROWS[COUNT].shown


def test_what_is_gone_is_answered_by_a_failure(client: Client) -> None:
    def run(judge: Recorder) -> None:
        history = begin(client, judge, client.need, GET, "queues.delete")
        history.run(Call("queues.close", handle="r"), Call("queues.delete", queue="q1"))
        history.run(of_queue(judge, "q1"), Call("management.act", queue="q1", action="PAUSE"))

    assert failed(judged(run)) is None


TOUR = {**TOURS, "acknowledged": lambda shown, restarts: acknowledged(restarts=restarts)}


@pytest.mark.parametrize("name", TOUR)
def test_a_tour_passes_and_finds_what_is_told_wrongly(client: Client, name: str) -> None:
    plan: Tour = TOUR[name](tuple(ROWS), restarts=True)
    assert failed(judged(lambda judge: tour(client, judge, OPTIONS, plan))) is None
    if name != "acknowledged":
        wrong = answering(client, lambda values: [_more(one) for one in values])
        assert failed(judged(lambda judge: tour(wrong, judge, OPTIONS, plan))) is not None


def _more(one: dict[str, Any]) -> dict[str, Any]:
    return {**one, "value": one["value"] + 1} if one.get("vt") == 19 else one


@pytest.mark.parametrize(
    ("stages", "events", "opening", "behind"),
    [
        (LOCAL_STAGES, LOCAL_EVENTS, LOCAL_OPENING, BEHIND),
        (REMOTE_STAGES, REMOTE_EVENTS, REMOTE_OPENING, (transfer(),)),
    ],
    ids=["local", "remote"],
)
def test_some_stages_pass(client: Client, stages: Any, events: Any, opening: Any, behind: Any) -> None:
    for stage in list(stages.values())[::6]:
        found = judged(
            lambda judge, stage=stage: at(
                stage, events, client, judge, opening=opening, behind=behind, shown=tuple(ROWS)
            )
        )
        assert failed(found) is None


@pytest.mark.parametrize("cause", REPORTS)
def test_a_report_of_another_class_is_blamed_on_its_class(client: Client, cause: str) -> None:
    client.call("reset")
    assert failed(judged(lambda judge: unmodelled_stories.TABLE.tell(cause, client, judge))) is None
    wrong = Distorting(client, lambda method, params: None, silent)
    wrong.call = _reclassed(client)  # type: ignore[method-assign]
    client.call("reset")
    assert failed(judged(lambda judge: unmodelled_stories.TABLE.tell(cause, wrong, judge))) == REPORTS[cause][0]


def _reclassed(client: Client) -> Callable[..., Any]:
    def call(method: str, **params: Any) -> Any:
        result = client.call(method, **params)
        if method == "messages.receive" and result.ok:
            result.values["message"]["class"] ^= 0x10
        return result

    return call


def test_an_administrator_who_may_do_more_or_less_is_found(client: Client) -> None:
    client.call("reset")
    assert failed(judged(lambda judge: unmodelled_stories.TABLE.tell("administrators", client, judge))) is None
    for given, other, blamed in (("peek_admin", "receive_admin", PEEKS), ("receive_admin", "peek_admin", RECEIVES)):
        wrong = Distorting(client, lambda method, params: None, silent)

        def call(method: str, given: str = given, other: str = other, **params: Any) -> Any:
            if params.get("access") == given:
                params["access"] = other
            return client.call(method, **params)

        wrong.call = call  # type: ignore[method-assign]
        client.call("reset")
        assert (
            failed(judged(lambda judge, wrong=wrong: unmodelled_stories.TABLE.tell("administrators", wrong, judge)))
            == blamed
        )


def test_stories_of_one_kind_have_names_of_their_own() -> None:
    assert incoming_story.KIND != unmodelled_stories.KIND
    assert not set(incoming_story.STORIES) & set(unmodelled_stories.STORIES)


def _told_of(client: Client, change: Callable[[str, dict[str, Any]], None]) -> Distorting:
    """A client that changes what is told of a queue: change takes its format name and each value."""
    wrong = Distorting(client, lambda method, params: None, silent)

    def call(method: str, **params: Any) -> Any:
        result = client.call(method, **params)
        if method == "management.get" and result.ok and params["target"]["type"] == "queue":
            for one in result.values["values"]:
                change(params["target"]["format_name"], one)
        return result

    wrong.call = call  # type: ignore[method-assign]
    return wrong


@pytest.mark.parametrize(
    ("story", "old", "new", "blamed"),
    [
        ("destinations", "PRIVATE", "PUBLIC", "MQMQ-2.3.12.3.mgmt-queue-type-private"),
        ("destinations", "REMOTE", "LOCAL", "MQMQ-2.3.12.4.mgmt-queue-remote-location"),
        ("system-queues", "MACHINE", "PRIVATE", "MQMQ-2.3.12.3.mgmt-queue-type-machine"),
    ],
)
def test_a_queue_told_otherwise_under_another_name_is_found(
    client: Client, story: str, old: str, new: str, blamed: str
) -> None:
    def change(name: str, one: dict[str, Any]) -> None:
        if name.isupper() and one.get("value") == old:
            one["value"] = new

    client.call("reset")
    assert failed(judged(lambda judge: unmodelled_stories.TABLE.tell(story, client, judge))) is None
    client.call("reset")
    assert failed(judged(lambda judge: unmodelled_stories.TABLE.tell(story, _told_of(client, change), judge))) == blamed


def test_what_happens_to_another_queue_is_found(client: Client) -> None:
    """The second queue of two is told to be on hold as the first one is."""
    held: set[str] = set()

    def change(name: str, one: dict[str, Any]) -> None:
        if "remote2" in name and one.get("value") == "CONNECTED" and held:
            one["value"] = "ONHOLD"

    wrong = _told_of(client, change)
    told = wrong.call

    def call(method: str, **params: Any) -> Any:
        if params.get("action") == "PAUSE":
            held.add("paused")
        return told(method, **params)

    wrong.call = call  # type: ignore[method-assign]
    events = {"pause": stage_event_pairs.REMOTE_EVENTS["pause"]}

    def run(client: Any) -> str | None:
        both = stage_event_pairs.BOTH
        return failed(judged(lambda judge: beside(both, events, client, judge, other="remote2", shown=tuple(ROWS))))

    assert run(client) is None
    assert run(wrong) in ("MQDMPR-3.1.1.3.state-connected", "MQDMPR-3.1.4.14.paused-queue")
