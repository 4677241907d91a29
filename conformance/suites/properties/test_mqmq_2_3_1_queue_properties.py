"""MS-MQMQ 2.3.1 and 2.4, MS-MQDMPR 3.1.1.2, 3.1.7.1.3 and .33, MS-MQMP 3.1.4: the properties of a private queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.model.properties import ROWS, SINCE, Problem, Row
from conformance.model.property_calls import ADVANCE, CREATE, DELETE, GET, RESTART, SET, USE, PropertyCall
from conformance.spec.versions import applies
from conformance.suites.properties.claims import ALL_READ, BY_KIND, CREATING, REFUSING, SETTING, claimed
from conformance.suites.properties.history import NEEDS, PropertyHistory
from conformance.suites.properties.meanings import GUID, UNKNOWN, bad, good, plausible, writable
from conformance.suites.properties.telling import restarts

if TYPE_CHECKING:
    from conformance.suites.guard import GuardedClient
    from conformance.suites.judging import Judge
    from conformance.verdict import Json


def begin(mq: GuardedClient, judge: Judge, mq_need: Any, *methods: str) -> PropertyHistory:
    """A history, skipped where the driver lacks a method."""
    mq_need(*NEEDS, *methods)
    return PropertyHistory(mq, judge)


def create(queue: str = "q1", **values: Json) -> PropertyCall:
    """The call that creates a queue; the names of properties without their PROPID_Q_."""
    return PropertyCall(CREATE, queue, full(values))


def put(queue: str = "q1", **values: Json) -> PropertyCall:
    """The call that sets properties."""
    return PropertyCall(SET, queue, full(values))


def full(values: dict[str, Json]) -> dict[str, Json]:
    """With their whole names."""
    return {f"PROPID_Q_{name}": value for name, value in values.items()}


def rows(method: str) -> list[Any]:
    """pytest parameters: the properties that a method writes, marked with what they judge."""
    return [
        pytest.param(row, id=row.name, marks=pytest.mark.requirement(*claimed(row, method)))
        for row in ROWS.values()
        if writable(row, method)
    ]


def bound(row: Row, judge: Judge, history: PropertyHistory) -> None:
    """Skip what the run's version does not have, or the manager does not show."""
    if not applies(judge.profile, SINCE.get(row.name), None):
        judge.not_demanded(f"there is no {row.name} in {judge.profile}")
    if row.name not in history.shown:
        pytest.skip(f"not shown by the driver: {row.name}")


@pytest.mark.requirement(*ALL_READ)
def test_a_queue_created_without_properties(mq: GuardedClient, judge: Judge, mq_need: Any) -> None:
    begin(mq, judge, mq_need).run(create(), create("q2"))


@pytest.mark.parametrize("row", rows(CREATE))
def test_given_at_creation(row: Row, mq: GuardedClient, judge: Judge, mq_need: Any) -> None:
    """Each value is taken and shown, each that it cannot have is refused and makes no queue."""
    history = begin(mq, judge, mq_need, "queues.delete")
    bound(row, judge, history)
    for value in good(row):
        history.run(PropertyCall(CREATE, "q1", {row.name: value}), PropertyCall(DELETE, "q1"))
    for value in bad(row):
        history.run(PropertyCall(CREATE, "q1", {row.name: value}))
    history.run(PropertyCall(CREATE, "q1", {row.name: good(row)[0]}))


@pytest.mark.parametrize("row", rows(SET))
def test_set(row: Row, mq: GuardedClient, judge: Judge, mq_need: Any) -> None:
    """Each value is taken and shown, each that it cannot have is refused and changes nothing."""
    history = begin(mq, judge, mq_need, "queues.set")
    bound(row, judge, history)
    history.run(create(), create("q2", LABEL="other"))
    for value in good(row):
        history.run(PropertyCall(SET, "q1", {row.name: value}))
    for value in bad(row):
        history.run(PropertyCall(SET, "q1", {row.name: value}))
    history.run(PropertyCall(SET, "q1", {row.name: good(row)[0]}))


@pytest.mark.requirement(*SETTING)
def test_several_at_once(mq: GuardedClient, judge: Judge, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.set")
    history.run(
        create(LABEL="one", TYPE=GUID, QUOTA=7, JOURNAL=1, TRANSACTION=1),
        create("q2", LABEL="two", JOURNAL_QUOTA=9, PRIV_LEVEL=0),
        put(LABEL="orders", QUOTA=1000, JOURNAL=0),
        put("q2", PRIV_LEVEL=2, AUTHENTICATE=1, JOURNAL_QUOTA=0),
        put(JOURNAL=1, LABEL="", TYPE=GUID.lower(), QUOTA=0),
    )


@pytest.mark.requirement(*REFUSING, *BY_KIND[Problem.VALUE], *BY_KIND[Problem.TYPE])
def test_a_refused_setting_leaves_nothing(mq: GuardedClient, judge: Judge, mq_need: Any) -> None:
    """One property among several is wrong, first or last."""
    history = begin(mq, judge, mq_need, "queues.set")
    history.run(create(LABEL="before", QUOTA=7))
    history.run(put(LABEL="after", JOURNAL=2), put(JOURNAL=2, LABEL="after"), put(QUOTA=8, PRIV_LEVEL=3))
    history.run(put(QUOTA="9", LABEL="after"), put(TYPE=GUID, LABEL="after", QUOTA="9"), put(LABEL="after", TYPE="x"))


@pytest.mark.requirement(*REFUSING, *BY_KIND[Problem.NOT_APPLICABLE])
def test_what_cannot_be_set(mq: GuardedClient, judge: Judge, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.set")
    history.run(create(LABEL="before"))
    for name in history.shown:
        if not writable(ROWS[name], SET):
            wrong = {name: plausible(ROWS[name])}
            history.run(PropertyCall(SET, "q1", wrong), PropertyCall(SET, "q1", {"PROPID_Q_LABEL": "after", **wrong}))


@pytest.mark.requirement(*CREATING)
def test_what_creation_cannot_give(mq: GuardedClient, judge: Judge, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.delete")
    for name in history.shown:
        if not writable(ROWS[name], CREATE) and name != "PROPID_Q_PATHNAME":
            history.run(PropertyCall(CREATE, "q1", {"PROPID_Q_LABEL": "x", name: plausible(ROWS[name])}))
            if "q1" in history.state.queues:
                history.run(PropertyCall(DELETE, "q1"))


@pytest.mark.requirement(*BY_KIND[Problem.UNKNOWN])
def test_what_is_no_property(mq: GuardedClient, judge: Judge, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.set", "queues.delete")
    history.run(create(LABEL="before"))
    for name in UNKNOWN:
        history.run(
            PropertyCall(GET, "q1", names=(name,)),
            PropertyCall(GET, "q1", names=("PROPID_Q_LABEL", name)),
            PropertyCall(SET, "q1", {name: 1}),
            PropertyCall(SET, "q1", {"PROPID_Q_LABEL": "after", name: 1}),
            PropertyCall(CREATE, "q2", {name: 1}),
        )
        if "q2" in history.state.queues:
            history.run(PropertyCall(DELETE, "q2"))


@pytest.mark.requirement(
    "MQMP-3.1.4.9.unknown-queue",
    "MQMP-3.1.4.10.unknown-queue",
    "MQMP-3.1.4.5.existing-queue-unaltered",
    "MQMP-3.1.4.5.queue-exists",
    "MQMP-3.1.4.5.queue-exists-code",
)
def test_queues_that_are_not_there_and_that_are(mq: GuardedClient, judge: Judge, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.set", "queues.delete")
    history.run(PropertyCall(GET, "q1", names=("PROPID_Q_LABEL",)), put(LABEL="x"), create(LABEL="first"))
    history.run(create(LABEL="second", QUOTA=5), PropertyCall(DELETE, "q1"), put(LABEL="x"), create())


@pytest.mark.parametrize("kill", [True, False], ids=["killed", "stopped"])
@pytest.mark.requirement("MQDMPR-3.1.1.2.private-attributes-persistent")
def test_properties_survive_a_restart(mq: GuardedClient, judge: Judge, mq_need: Any, kill: bool) -> None:
    history = begin(mq, judge, mq_need, "queues.set")
    restarts(mq)
    given = {row.name: good(row)[0] for row in ROWS.values() if row.given and row.name in history.shown}
    put_later = {row.name: good(row)[0] for row in ROWS.values() if row.kept and row.name in history.shown}
    history.run(PropertyCall(CREATE, "q1", given), create("q2"), PropertyCall(SET, "q2", put_later), create("q3"))
    if mq.offers("clock.advance"):
        history.run(PropertyCall(ADVANCE, by_ms=3_600_000))
    history.run(PropertyCall(RESTART, kill=kill), put("q1", LABEL="later"))


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.3.create-time",
    "MQDMPR-3.1.7.1.3.modify-time",
    "MQDMPR-3.1.1.2.modify-time",
    "MQMP-3.1.4.10.refused-unchanged",
)
def test_times(mq: GuardedClient, judge: Judge, mq_need: Any) -> None:
    """The time of the creation stays; that of the change follows each setting, but none that is refused."""
    history = begin(mq, judge, mq_need, "queues.set", "clock.now", "clock.advance")
    hour = PropertyCall(ADVANCE, by_ms=3_600_000)
    history.run(hour, create(), hour, create("q2"), hour, put(LABEL="orders"), hour, PropertyCall(USE, "q1"))
    history.run(put(JOURNAL=2), hour, put("q2", QUOTA=9), PropertyCall(ADVANCE, by_ms=2_000), put(QUOTA=9))
