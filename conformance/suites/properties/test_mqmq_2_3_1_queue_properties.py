"""MS-MQMQ 2.3.1 and 2.4, MS-MQDMPR 3.1.1.2, 3.1.7.1.3 and .33, MS-MQMP 3.1.4: the properties of a private queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.histories.history import NEEDS, Watched
from conformance.histories.operations.properties import (
    GUID,
    QUEUES,
    UNKNOWN,
    bad,
    good,
    of_directory,
    plausible,
    writable,
)
from conformance.model import Call
from conformance.model.properties import OF_DIRECTORY, ROWS, SINCE, Problem, PropertyRow
from conformance.model.property_refusals import CREATE, SET
from conformance.spec.versions import applies
from conformance.suites.properties.stories import ALL_READ, BY_KIND, CREATING, REFUSING, SETTING, claimed, restarts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.verdict import Json


def begin(mq: Port, judge: Recorder, mq_need: Any, *methods: str) -> Watched:
    """Begin a history; skip if the driver lacks a method."""
    mq_need(*NEEDS, *methods)
    return Watched.begun(mq, judge)


Q1, Q2, Q3 = QUEUES


def create(queue: str = Q1, **values: Json) -> Call:
    """Return the call that creates a queue; names of properties lack their PROPID_Q_."""
    return making(queue, full(values))


def put(queue: str = Q1, **values: Json) -> Call:
    """Return the call that sets properties; their names lack PROPID_Q_."""
    return setting(queue, full(values))


def full(values: dict[str, Json]) -> dict[str, Json]:
    """Put PROPID_Q_ before the names."""
    return {f"PROPID_Q_{name}": value for name, value in values.items()}


def making(queue: str, values: Mapping[str, Json]) -> Call:
    """Return the call that creates a queue with these properties."""
    return Call(CREATE, queue=queue, values=tuple(values.items()) or None)


def setting(queue: str, values: Mapping[str, Json]) -> Call:
    """Return the call that sets these properties."""
    return Call(SET, queue=queue, values=tuple(values.items()) or None)


def getting(queue: str, *names: str) -> Call:
    """Return the call that gets these properties."""
    return Call("queues.get", queue=queue, names=names)


def deleting(queue: str) -> Call:
    """Return the call that deletes a queue."""
    return Call("queues.delete", queue=queue)


def passing(by_ms: int) -> Call:
    """Return the call that lets time pass."""
    return Call("clock.advance", by_ms=by_ms)


def rows(method: str) -> list[Any]:
    """Return pytest parameters: the properties that a method writes, marked with the requirements they judge."""
    return [
        pytest.param(row, id=row.name, marks=pytest.mark.requirement(*claimed(row, method)))
        for row in ROWS.values()
        if writable(row, method)
    ]


def bound_to(judge: Recorder, name: str) -> None:
    """Skip a property that the run's version lacks."""
    if not applies(judge.profile, SINCE.get(name), None):
        judge.not_demanded(f"there is no {name} in {judge.profile}")


def bound(row: PropertyRow, judge: Recorder, history: Watched) -> None:
    """Skip a property that the run's version lacks or the manager does not show."""
    bound_to(judge, row.name)
    if row.name not in history.shown:
        pytest.skip(f"not shown by the driver: {row.name}")


@pytest.mark.requirement(*ALL_READ)
def test_a_queue_created_without_properties(mq: Port, judge: Recorder, mq_need: Any) -> None:
    begin(mq, judge, mq_need).run(create(), create(Q2))


@pytest.mark.parametrize("row", rows(CREATE))
def test_given_at_creation(row: PropertyRow, mq: Port, judge: Recorder, mq_need: Any) -> None:
    """Creation accepts and shows each good value, and refuses each bad one without creating a queue."""
    history = begin(mq, judge, mq_need, "queues.delete")
    bound(row, judge, history)
    for value in good(row):
        history.run(making(Q1, {row.name: value}), deleting(Q1))
    for value in bad(row):
        history.run(making(Q1, {row.name: value}))
    history.run(making(Q1, {row.name: good(row)[0]}))


@pytest.mark.parametrize("row", rows(SET))
def test_set(row: PropertyRow, mq: Port, judge: Recorder, mq_need: Any) -> None:
    """The call accepts and shows each good value, and refuses each bad one without a change."""
    history = begin(mq, judge, mq_need, "queues.set")
    bound(row, judge, history)
    history.run(create(), create(Q2, LABEL="other"))
    for value in good(row):
        history.run(setting(Q1, {row.name: value}))
    for value in bad(row):
        history.run(setting(Q1, {row.name: value}))
    history.run(setting(Q1, {row.name: good(row)[0]}))


@pytest.mark.requirement(*SETTING)
def test_several_at_once(mq: Port, judge: Recorder, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.set")
    history.run(
        create(LABEL="one", TYPE=GUID, QUOTA=7, JOURNAL=1, TRANSACTION=1),
        create(Q2, LABEL="two", JOURNAL_QUOTA=9, PRIV_LEVEL=0),
        put(LABEL="orders", QUOTA=1000, JOURNAL=0),
        put(Q2, PRIV_LEVEL=2, AUTHENTICATE=1, JOURNAL_QUOTA=0),
        put(JOURNAL=1, LABEL="", TYPE=GUID.lower(), QUOTA=0),
    )


@pytest.mark.requirement(*REFUSING, *BY_KIND[Problem.VALUE], *BY_KIND[Problem.TYPE])
def test_a_refused_setting_leaves_nothing(mq: Port, judge: Recorder, mq_need: Any) -> None:
    """One of several properties, the first or the last, has a bad value: none is set."""
    history = begin(mq, judge, mq_need, "queues.set")
    history.run(create(LABEL="before", QUOTA=7))
    history.run(put(LABEL="after", JOURNAL=2), put(JOURNAL=2, LABEL="after"), put(QUOTA=8, PRIV_LEVEL=3))
    history.run(put(QUOTA="9", LABEL="after"), put(TYPE=GUID, LABEL="after", QUOTA="9"), put(LABEL="after", TYPE="x"))


@pytest.mark.requirement(*REFUSING, *BY_KIND[Problem.NOT_APPLICABLE])
def test_what_cannot_be_set(mq: Port, judge: Recorder, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.set")
    history.run(create(LABEL="before"))
    for name in history.shown:
        if not writable(ROWS[name], SET):
            wrong = {name: plausible(ROWS[name])}
            history.run(setting(Q1, wrong), setting(Q1, {"PROPID_Q_LABEL": "after", **wrong}))


@pytest.mark.requirement(*CREATING)
def test_what_creation_cannot_give(mq: Port, judge: Recorder, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.delete")
    for name in history.shown:
        if not writable(ROWS[name], CREATE) and name != "PROPID_Q_PATHNAME":
            history.run(making(Q1, {"PROPID_Q_LABEL": "x", name: plausible(ROWS[name])}))
            if history.has(Q1):
                history.run(deleting(Q1))


@pytest.mark.requirement(*BY_KIND[Problem.UNKNOWN])
def test_what_is_no_property(mq: Port, judge: Recorder, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.set", "queues.delete")
    history.run(create(LABEL="before"))
    for name in UNKNOWN:
        history.run(
            getting(Q1, name),
            getting(Q1, "PROPID_Q_LABEL", name),
            setting(Q1, {name: 1}),
            setting(Q1, {"PROPID_Q_LABEL": "after", name: 1}),
            making(Q2, {name: 1}),
        )
        if history.has(Q2):
            history.run(deleting(Q2))


@pytest.mark.requirement("MQMP-3.1.1.12.set-not-applicable", "MQMP-3.1.1.12.create-not-applicable", *REFUSING)
def test_what_only_a_directory_has(mq: Port, judge: Recorder, mq_need: Any) -> None:
    """No call gives a private queue a property that MS-MQMP 3.1.1.12 gives to none."""
    history = begin(mq, judge, mq_need, "queues.set", "queues.delete")
    history.run(create(LABEL="before"))
    for name in OF_DIRECTORY:
        wrong = {name: of_directory(name)}
        history.run(setting(Q1, wrong), setting(Q1, {"PROPID_Q_LABEL": "after", **wrong}), making(Q2, wrong))
        if history.has(Q2):
            history.run(deleting(Q2))


@pytest.mark.requirement("MQMQ-2.3.1.24.propid-q-ads-path", "MQDMPR-3.1.7.1.3.directory-path-empty")
def test_the_directory_path_of_a_private_queue(mq: Port, judge: Recorder, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need)
    name = "PROPID_Q_ADS_PATH"
    bound_to(judge, name)
    history.run(create())
    path = history.history.driving.handles.format(Q1)
    told = mq.call("queues.get", format_name=path, properties=[name]) if mq.hello.takes("properties", name) else None
    if told is None or not told.ok or name not in told.values.get("properties", {}):
        pytest.skip(f"not shown by the driver: {name}")
    history.run(getting(Q1, name))


@pytest.mark.requirement(
    "MQMP-3.1.4.9.unknown-queue",
    "MQMP-3.1.4.10.unknown-queue",
    "MQMP-3.1.4.5.existing-queue-unaltered",
    "MQMP-3.1.4.5.queue-exists",
    "MQMP-3.1.4.5.queue-exists-code",
)
def test_queues_that_are_not_there_and_that_are(mq: Port, judge: Recorder, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.set", "queues.delete")
    history.run(getting(Q1, "PROPID_Q_LABEL"), put(LABEL="x"), create(LABEL="first"))
    history.run(create(LABEL="second", QUOTA=5), deleting(Q1), put(LABEL="x"), create())


@pytest.mark.requirement("MQMQ-2.3.1.1.propid-q-instance", "MQDMPR-3.1.7.1.3.create-time", "MQDMPR-3.1.7.1.3.success")
def test_a_queue_made_again_is_another_one(mq: Port, judge: Recorder, mq_need: Any) -> None:
    """It has its own identity and time, and nothing of what was set before."""
    history = begin(mq, judge, mq_need, "queues.set", "queues.delete")
    hour = (passing(3_600_000),) if mq.offers("clock.advance") and mq.hello.clock == "virtual" else ()
    history.run(create(LABEL="before", QUOTA=7, JOURNAL=1), put(PRIV_LEVEL=2, AUTHENTICATE=1), create(Q2))
    for _ in range(2):
        history.run(*hour, deleting(Q1), create(), *hour, put(LABEL="after"))


@pytest.mark.parametrize("kill", [True, False], ids=["killed", "stopped"])
@pytest.mark.requirement("MQDMPR-3.1.1.2.private-attributes-persistent")
def test_properties_survive_a_restart(mq: Port, judge: Recorder, mq_need: Any, kill: bool) -> None:
    history = begin(mq, judge, mq_need, "queues.set")
    restarts(mq)
    given = {row.name: good(row)[0] for row in ROWS.values() if row.given and row.name in history.shown}
    put_later = {row.name: good(row)[0] for row in ROWS.values() if row.kept and row.name in history.shown}
    history.run(making(Q1, given), create(Q2), setting(Q2, put_later), create(Q3))
    if mq.offers("clock.advance"):
        history.run(passing(3_600_000))
    history.run(Call("restart", kill=kill), put(Q1, LABEL="later"))


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.3.create-time",
    "MQDMPR-3.1.7.1.3.modify-time",
    "MQDMPR-3.1.1.2.modify-time",
    "MQMP-3.1.4.10.refused-unchanged",
)
def test_times(mq: Port, judge: Recorder, mq_need: Any) -> None:
    """The creation time stays; the modification time follows each accepted setting and no refused one."""
    history = begin(mq, judge, mq_need, "queues.set", "clock.now", "clock.advance")
    hour = passing(3_600_000)
    history.run(hour, create(), hour, create(Q2), hour, put(LABEL="orders"), hour, Call("use", queue=Q1))
    history.run(put(JOURNAL=2), hour, put(Q2, QUOTA=9), passing(2_000), put(QUOTA=9))
