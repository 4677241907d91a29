"""Stories of the properties of messages, and the requirements that tests of queue properties judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.histories.operations.properties import bad, good
from conformance.judge.packets.attribute_compare import judge_marks
from conformance.model.properties import APART, ROWS, Problem, PropertyRow
from conformance.model.property_refusals import CREATE, SET
from conformance.spec.catalogue import requirement_id
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_PROPERTY_SIZE
from conformance.suites.properties.mailbox import Mailbox, Unopened, b64
from conformance.suites.properties.values import PASSAGES, pass_large, pass_values
from conformance.verdict import Json, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

_ILLEGAL_VALUE = "MQMQ-2.4.mq-error-illegal-property-value"
_TYPE_CODE = "MQMP-3.1.4.10.property-type-code"

ALL_READ = (
    *dict.fromkeys(
        name
        for row in ROWS.values()
        if row.name not in APART
        for name in (row.shown, row.among, row.default[1] if row.default else None)
        if name is not None
    ),
    "MQMP-3.1.4.9.get",
    "MQDMPR-3.1.7.1.3.success",
    "MQDMPR-3.1.7.1.3.returned",
    "MQDMPR-3.1.7.1.3.private-type",
    "MQDMPR-3.1.7.1.3.private-queue-number",  # judged if names show numbers
    "MQDMPR-3.1.1.2.scope-enterprise",
    "MQDMPR-3.1.1.identifier-unique",
    "MQDMPR-3.1.7.1.3.attribute-pathname",
    "MQDMPR-3.1.7.1.3.qualified-pathname",
    "MQMQ-2.3.1.22.path-name",
)
"""Judged on a queue created without properties."""

SETTING = ("MQMP-3.1.4.10.set", "MQMP-3.1.4.10.every-property", "MQMP-3.1.4.10.others-unchanged")
REFUSING = ("MQMP-3.1.4.10.refused-unchanged",)
CREATING = (
    "MQMP-3.1.1.12.create-not-applicable",
    "MQMQ-2.4.mq-error-property-notallowed",
    "MQMP-3.1.4.5.refused-no-queue",
)
BY_KIND: dict[Problem, tuple[str, ...]] = {
    Problem.VALUE: (_ILLEGAL_VALUE,),
    Problem.TYPE: ("MQMP-3.1.4.10.property-type", _TYPE_CODE),
    Problem.NOT_APPLICABLE: (
        "MQMP-3.1.1.12.set-not-applicable",
        "MQMP-3.1.1.12.set-not-applicable-unchanged",
        "MQMQ-2.4.mq-error-property-notallowed",
    ),
    Problem.UNKNOWN: (
        "MQMP-3.1.4.9.unknown-property",
        "MQMP-3.1.4.10.unknown-property",
        "MQMP-3.1.4.5.unknown-property",
        "MQMQ-2.4.mq-error-illegal-propid",
    ),
}
"""Kind of problem to the requirements that judge its refusal."""

WALKED = tuple(
    dict.fromkeys((*ALL_READ, *SETTING, *REFUSING, *CREATING, *(each for kind in BY_KIND.values() for each in kind)))
)
"""The requirements that a walk over all properties judges."""


def claimed(row: PropertyRow, method: str) -> tuple[str, ...]:
    """Return the requirements that judge a method (CREATE or SET) with a property's good and bad values."""
    out = [row.shown]
    problems = [found for value in bad(row) if (found := row.problem(value)) is not None]
    out += [demand for problem, demand in problems if problem is not Problem.TYPE]
    kinds = {problem for problem, _ in problems}
    if Problem.VALUE in kinds:
        out.append(_ILLEGAL_VALUE)
    if Problem.TYPE in kinds:
        out += [f"MQMP-3.1.4.{5 if method == CREATE else 10}.property-type", _TYPE_CODE]
    if method == SET:
        out += [row.blamed(value) for value in good(row)]
        out += ["MQMP-3.1.4.10.set", *(REFUSING if kinds else ())]
    else:
        out += [row.given or row.shown, *(("MQMP-3.1.4.5.refused-no-queue",) if kinds else ())]
    return tuple(dict.fromkeys(out))


KIND = "message"
RESPONSE, ADMINISTRATION = "DIRECT=OS:HOST\\private$\\answers", "DIRECT=TCP:10.1.2.3\\private$\\reports"


EVERYTHING: Mapping[str, Any] = {
    "body": b64(bytes(range(256))),
    "body_type": 0x80000008,
    "label": "  Жук \U0001f600 and more\t ",
    "priority": 6,
    "delivery": "recoverable",
    "application_tag": 0x89ABCDEF,
    "correlation_identifier": b64(bytes(range(1, 21))),
    "extension": b64(b"\x00extension\xff"),
    "response_queue": RESPONSE,
    "administration_queue": ADMINISTRATION,
    "trace": True,
}
"""A message with every attribute that must arrive unchanged."""

EDGES: tuple[Mapping[str, Any], ...] = (
    *({"priority": priority} for priority in (0, 7)),
    *({name: value} for name in ("application_tag", "body_type") for value in (0, 0xFFFF, 0x10000, 0xFFFFFFFF)),
    {"body": b64(bytes(70_000))},
    {"extension": b64(bytes(70_000))},
    {"label": "x" * 249},
)
"""Attribute values at the ends of their ranges."""


def messages() -> SearchStrategy[dict[str, Any]]:
    """Generate messages with some of those attributes."""
    numbers = st.sampled_from((0, 1, 8, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)) | st.integers(0, 0xFFFFFFFF)
    data = st.binary(max_size=64) | st.integers(0, 5000).map(lambda size: bytes(at * 7 & 0xFF for at in range(size)))
    return st.fixed_dictionaries(
        {},
        optional={
            "body": data.map(b64),
            "body_type": numbers,
            "label": st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=60),
            "priority": st.integers(0, 7),
            "delivery": st.sampled_from(("express", "recoverable")),
            "application_tag": numbers,
            "correlation_identifier": st.binary(min_size=20, max_size=20).map(b64),
            "extension": data.map(b64),
            "response_queue": st.sampled_from((RESPONSE, ADMINISTRATION)),
            "administration_queue": st.sampled_from((RESPONSE, ADMINISTRATION)),
        },
    )


SIZE: Final = requirement_id("MQMQ-2.4.mq-error-illegal-property-size")
SIZES: Final = (1, 4, 16, 19, 21, 32, 40)  # bytes; a correlation identifier has 20
_REMOTE: Final = "DIRECT=TCP:192.0.2.7\\private$\\mqconform-refused"  # RFC 5737
_PLAIN: Final[dict[str, Any]] = {"body": b64(b"body")}


def wrong_sizes(mq: Port, judge: Recorder) -> None:
    """A correlation identifier of another size is refused: alone, with all else, in a transaction, and when sent on."""
    for wishes in (_PLAIN, dict(EVERYTHING)):
        _tried(mq, judge, _opened(mq, _created(mq, judge, "plain"), "send"), wishes)
    if mq.offers("transactions.begin"):
        queue = _created(mq, judge, "transactional", PROPID_Q_TRANSACTION=1)
        begun = mq.call("transactions.begin")
        if begun.ok:
            _tried(mq, judge, _opened(mq, queue, "send"), _PLAIN, transaction=begun.values["transaction"])
            mq.call("transactions.abort", transaction=begun.values["transaction"])
    if mq.hello.takes("format_names", "remote"):
        _tried(mq, judge, _opened(mq, _REMOTE, "send"), _PLAIN)


def _tried(mq: Port, judge: Recorder, handle: Any, message: dict[str, Any], **more: Any) -> None:
    right = {**message, "correlation_identifier": b64(bytes(range(20)))}
    if not mq.call("messages.send", queue=handle, message=right, **more).ok:
        raise Unopened("a message that is as it should be is refused")
    for size in SIZES:
        wrong = {**message, "correlation_identifier": b64(bytes(range(size)))}
        sent = mq.call("messages.send", queue=handle, message=wrong, **more)
        judge.step(
            f"send with a correlation identifier of {size} bytes", {"method": "messages.send"}, _answer_text(sent)
        )
        subject = f"correlation identifier of {size} bytes"
        wanted: Json = {"fails with": f"0x{MQ_ERROR_ILLEGAL_PROPERTY_SIZE:08X}"}
        right_code = not sent.ok and sent.status in (None, MQ_ERROR_ILLEGAL_PROPERTY_SIZE)
        judge.record(Verdict(SIZE, Outcome.PASS if right_code else Outcome.FAIL, subject, wanted, _answer_text(sent)))


def _answer_text(answer: Any) -> Json:
    if answer.status is None:
        return {"fails": not answer.ok}
    return {"fails": not answer.ok, "status": f"0x{answer.status:08X}"}


def _created(mq: Port, judge: Recorder, name: str, **properties: Json) -> str:
    path = f"{mq.hello.computer}\\private$\\mqconform-refused-{name}{mq.unique()}"
    made = mq.call("queues.create", path_name=path, properties=properties)
    judge.step(f"create a queue with {properties}", {"method": "queues.create"}, {"status": made.status})
    if not made.ok:
        raise Unopened("no queue could be created to send messages to")
    return str(made.values["format_name"])


def _opened(mq: Port, queue: str, access: str) -> Any:
    opened = mq.call("queues.open", format_name=queue, access=access)
    if not opened.ok:
        raise Unopened("no queue could be opened to send messages to")
    return opened.values["queue"]


STORY_KIND, LARGE_KIND = "story", "large story"
"""The kinds of examples; the record has no answers of those of the second, which would be most of it."""

BODY = "Ym9keQ=="
COUNTS = {
    "messages": "MQMQ-2.3.12.7.propid-mgmt-queue-message-count",
    "bytes": "MQMQ-2.3.12.8.propid-mgmt-queue-bytes-in-queue",
    "journal_messages": "MQMQ-2.3.12.9.propid-mgmt-queue-journal-message-count",
    "journal_bytes": "MQMQ-2.3.12.10.propid-mgmt-queue-bytes-in-journal",
}
TRANSACTIONAL, NOT_TRANSACTIONAL = "MQMQ-2.3.1.13.mq-transactional", "MQMQ-2.3.1.13.mq-transactional-none"
UNAUTHENTICATED, CLEAR = "MQDMPR-3.1.1.2.authentication-off", "MQDMPR-3.1.1.2.privacy-level-optional"

EMPTY, NO_SUBQUEUES = "MQDMPR-3.1.7.1.3.empty", "MQDMPR-3.1.7.1.3.no-subqueues"


class Traffic:
    """A queue with given properties, and messages through it."""

    def __init__(self, mq: Port, judge: Recorder, name: str, **properties: Json) -> None:
        self.mq = mq
        self.judge = judge
        path = f"{mq.hello.computer}\\private$\\mqconform-{name}"
        given = {f"PROPID_Q_{each}": value for each, value in properties.items()}
        created = mq.call("queues.create", path_name=path, properties=given)
        judge.step(f"create a queue with {given}", {"method": "queues.create"}, {"status": created.status})
        self.format_name = str(created.values.get("format_name", f"DIRECT=OS:{path}"))
        self.handles: dict[str, Any] = {}
        for access in ("send", "receive"):
            opened = mq.call("queues.open", format_name=self.format_name, access=access)
            if not opened.ok:
                raise Unopened("no queue could be created and opened to send messages to")
            self.handles[access] = opened.values["queue"]

    def send(self, **more: Any) -> bool:
        """Send a message with a body; return True if it is accepted."""
        sent = self.mq.call("messages.send", queue=self.handles["send"], message={"body": BODY}, **more)
        self.judge.step("send a message", {"method": "messages.send"}, {"status": sent.status})
        return bool(sent.ok)

    def receive(self) -> bool:
        """Receive a message; return True if there was one."""
        timeout_ms = self.mq.hello.settle_ms
        got = self.mq.call("messages.receive", queue=self.handles["receive"], timeout_ms=timeout_ms)
        self.judge.step("receive", {"method": "messages.receive"}, {"status": got.status})
        return bool(got.ok)

    def counts(self) -> dict[str, int]:
        """Return the answer of queues.counts."""
        result = self.mq.call("queues.counts", format_name=self.format_name)
        told = {name: int(value) for name, value in result.values.items() if name in COUNTS} if result.ok else {}
        self.judge.step("counts", {"method": "queues.counts"}, told)
        return told

    def expect(self, demand: str, holds: bool, expected: Json, actual: Json) -> None:
        """Record a verdict."""
        outcome = Outcome.PASS if holds else Outcome.FAIL
        self.judge.record(Verdict(demand, outcome, demand.rpartition(".")[2], expected, actual))


def counts(mq: Port, judge: Recorder) -> None:
    """A queue and its journal are counted: no messages, no bytes; some messages, some bytes."""
    box = Traffic(mq, judge, "counts", JOURNAL=1)
    kept = taken = 0
    for step in ("", "send", "send", "send", "receive", "receive", "receive"):
        if step == "send":
            kept += box.send()
        elif step == "receive":
            got = box.receive()
            kept, taken = kept - got, taken + got
        numbers = {"messages": kept, "bytes": kept, "journal_messages": taken, "journal_bytes": taken}
        for name, value in box.counts().items():
            wanted = numbers[name]
            if name.endswith("bytes"):
                box.expect(COUNTS[name], (value > 0) == (wanted > 0), "more than 0" if wanted else 0, value)
            else:
                box.expect(COUNTS[name], value == wanted, wanted, value)


def transactional_or_not(mq: Port, judge: Recorder) -> None:
    """Each kind of queue, transactional or not, accepts the messages meant for it."""
    box = Traffic(mq, judge, "plain", TRANSACTION=0)
    there = box.send() and box.receive()
    box.expect(NOT_TRANSACTIONAL, there, {"received": True}, {"received": there})
    box = Traffic(mq, judge, "transactional", TRANSACTION=1)
    begun = mq.call("transactions.begin")
    there = begun.ok and box.send(transaction=begun.values["transaction"])
    there = there and mq.call("transactions.commit", transaction=begun.values["transaction"]).ok and box.receive()
    box.expect(TRANSACTIONAL, there, {"received": True}, {"received": there})


def created_again(mq: Port, judge: Recorder) -> None:
    """A queue with messages is deleted and created again under its name: its messages are gone."""
    box = Traffic(mq, judge, "again")
    box.send()
    box.send()
    mq.call("queues.delete", format_name=box.format_name)
    judge.step("delete the queue", {"method": "queues.delete"})
    box = Traffic(mq, judge, "again")
    there = box.receive()
    box.expect(EMPTY, not there, {"received": False}, {"received": there})


def created_again_without_subqueues(mq: Port, judge: Recorder) -> None:
    """The same with a message in a subqueue."""
    box = Traffic(mq, judge, "again")
    sent = mq.call("messages.send", queue=box.handles["send"], message={"body": BODY})
    lookup = mq.call("messages.peek", queue=box.handles["receive"], timeout_ms=mq.hello.settle_ms)
    subqueue = f"{box.format_name};part"
    into = mq.call("queues.open", format_name=subqueue, access="move")
    identifier = lookup.values["message"].get("lookup_identifier") if sent.ok and lookup.ok else None
    if identifier is None or not into.ok:
        raise Unopened("no message could be moved to a subqueue")
    params = {"lookup_identifier": identifier, "destination": into.values["queue"]}
    moved = mq.call("messages.move", queue=box.handles["receive"], **params)
    judge.step("move the message to a subqueue", {"method": "messages.move"}, {"status": moved.status})
    if not moved.ok:
        raise Unopened("no message could be moved to a subqueue")
    mq.call("queues.delete", format_name=box.format_name)
    judge.step("delete the queue", {"method": "queues.delete"})
    box = Traffic(mq, judge, "again")
    opened = mq.call("queues.open", format_name=subqueue, access="receive")
    there = False
    if opened.ok:
        timeout_ms = mq.hello.settle_ms
        there = mq.call("messages.receive", queue=opened.values["queue"], timeout_ms=timeout_ms).ok
    judge.step("receive from the subqueue", {"method": "messages.receive"}, {"received": there})
    box.expect(NO_SUBQUEUES, not there, {"received": False}, {"received": there})


def neither_signed_nor_encrypted(mq: Port, judge: Recorder) -> None:
    """A queue that demands neither signature nor encryption accepts messages without them."""
    asks: tuple[tuple[str, dict[str, Json]], ...] = ((UNAUTHENTICATED, {"AUTHENTICATE": 0}), (CLEAR, {"PRIV_LEVEL": 1}))
    for demand, properties in asks:
        box = Traffic(mq, judge, next(iter(properties)).lower(), **properties)
        there = box.send() and box.receive()
        box.expect(demand, there, {"received": True}, {"received": there})


def attributes_after_a_restart(mq: Port, judge: Recorder, *, kill: bool) -> None:
    """A recoverable message keeps every attribute over a restart."""
    box = Mailbox(mq, judge)
    alike: tuple[Mapping[str, Any], ...] = (EVERYTHING, {"delivery": "recoverable"})
    before = [box.exchange(message) for message in alike]
    sent = [box.send(message) for message in alike]
    mq.restart(kill=kill)
    judge.step("the manager is killed and started again" if kill else "the manager is restarted")
    box.open()
    for sending, seen in zip(sent, before, strict=True):
        kept = sending is not None and sending.message.get("delivery") == "recoverable"  # where an API can say so
        if sending is not None and seen is not None and kept:
            box.read("messages.receive", sending, before=seen)


def first_and_last(mq: Port, judge: Recorder) -> None:
    """Transactions send one, two and three messages; the first and the last of each are marked."""
    box = Mailbox(mq, judge, name="marks", PROPID_Q_TRANSACTION=1)
    for count in (1, 2, 3):
        begun = mq.call("transactions.begin")
        if not begun.ok:
            return
        transaction = begun.values["transaction"]
        sent = [box.send({"body": BODY}, transaction=transaction) for _ in range(count)]
        mq.call("transactions.commit", transaction=transaction)
        seen = [box.read("messages.receive", sending) for sending in sent if sending is not None]
        judge.record(*judge_marks([message for message in seen if message is not None], judge.readings))


_LARGE: Final = "large-"
Story = Callable[["Port", "Recorder"], None]
STORIES: Mapping[str, Story] = {
    "counts": counts,
    "transactional-or-not": transactional_or_not,
    "neither-signed-nor-encrypted": neither_signed_nor_encrypted,
    "attributes-killed": partial(attributes_after_a_restart, kill=True),
    "attributes-stopped": partial(attributes_after_a_restart, kill=False),
    "first-and-last": first_and_last,
    "created-again": created_again,
    "created-again-without-subqueues": created_again_without_subqueues,
    "wrong-sizes": wrong_sizes,
    **{f"values-{name}": partial(pass_values, passage=passage) for name, passage in PASSAGES.items()},
    **{f"{_LARGE}{name}": partial(pass_large, passage=passage) for name, passage in PASSAGES.items()},
}


def tell(name: str, mq: Port, judge: Recorder) -> None:
    """Run a story. Raises ConformanceFailure, and Unopened if it cannot make its queue."""
    judge.begin_example(LARGE_KIND if name.startswith(_LARGE) else STORY_KIND, {"story": name})
    STORIES[name](mq, judge)


def run_story(name: str, mq: Port, judge: Recorder) -> None:
    """Run a story (`conformance.suites.properties.stories.tell`), or skip."""
    try:
        tell(name, mq, judge)
    except Unopened as nothing:
        pytest.skip(str(nothing))


def restarts(mq: Port) -> None:
    """Skip if the connection does not keep the state over a restart."""
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
