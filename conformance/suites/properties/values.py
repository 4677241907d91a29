"""Classes of values of a message, crossed with what happens to the message before it is received with them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from conformance.adapter.protocol import MAX_BODY_BYTES, body_bytes
from conformance.harness.guarded_client import lacking, refusals
from conformance.judge.names import LONGEST_MESSAGE_LABEL
from conformance.judge.packets.attribute_compare import SURVIVES, Sending, demanded, judge_attributes
from conformance.spec.catalogue import requirement_id
from conformance.suites.properties.mailbox import Mailbox, Unopened, b64
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

MOST_BYTES: Final = 4 << 20  # no packet is longer (MS-MQMQ 2.2.19.1): a driver may declare anything
UNDECLARED_BYTES: Final = 70_000  # where the driver declares no limit: more than a length of 16 bits can tell
_PAIR: Final = "\U0001f600"  # two units of UTF-16
_PAIRS: Final = LONGEST_MESSAGE_LABEL // 2
_OWN: Final = "DIRECT=OS:HOST\\private$\\"


@lru_cache(16)
def octets(size: int) -> str:
    """Return this many octets without a pattern, in base64: nothing that is cut or moved is equal to them."""
    return b64(random.Random(size).randbytes(size))


VALUES: Final[Mapping[str, Mapping[str, Any]]] = {
    "nothing but a body": {"body": octets(1)},
    "an empty body": {"body": "", "label": "empty"},
    "the longest label": {"label": "x" * (LONGEST_MESSAGE_LABEL - 1) + "y"},
    "a label that ends with a pair of surrogates": {"label": "a" + _PAIR * _PAIRS},
    "a label that begins with a pair of surrogates": {"label": _PAIR * _PAIRS + "z"},
    "the largest numbers": {"application_tag": 0xFFFFFFFF, "body_type": 0xFFFFFFFF},
    "numbers beyond 31 bits": {"application_tag": 0x80000000, "body_type": 0x80000001},
    "a correlation identifier of ones": {"correlation_identifier": b64(b"\xff" * 20)},
    "a response queue with a long name": {"response_queue": _OWN + "n" * 100},
    "queues that are not sorted": {
        "response_queue": ",".join(_OWN + name for name in ("m", "z", "a")),
        "administration_queue": ",".join(_OWN + name for name in ("z", "a", "m")),
    },
    "everything at once": {
        "body": octets(300),
        "label": _PAIR * 40 + "b" * 169,
        "extension": octets(257),
        "application_tag": 0xFFFF0000,
        "body_type": 0x10000,
        "correlation_identifier": octets(20),
        "administration_queue": _OWN + "reports",
        "response_queue": _OWN + "answers",
    },
}
"""Messages with values at the ends of their ranges, of several kinds in an order that is not sorted."""
LARGE: Final[Mapping[str, Mapping[str, Any]]] = {
    **{f"a body of {size:,} bytes": {"body": octets(size)} for size in (4_095, 4_097, 65_535, 65_536)},
    "an extension of 65,537 bytes": {"extension": octets(65_537)},
}
"""Messages that are too large for a record to have them many times."""


@dataclass(frozen=True, slots=True)
class Passage:
    """An event of messages between their send and their receive.

    act: does it, and returns the handle that the messages are received by. changed: what a value breaks that another
    one has taken the place of; None: what its own requirement says. lost: what a message breaks that is not there.
    needs: methods beside those of a mailbox. names: kinds of format names. how: the queue's properties. wishes: what
    the messages have beside. restarts: it needs a state that is kept. copies: a copy of the message is received.
    """

    act: Callable[[Mailbox, int], Any]
    changed: str | None = None
    lost: str | None = None
    needs: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    how: Mapping[str, Any] | None = None
    wishes: Mapping[str, Any] | None = None
    restarts: bool = False
    copies: bool = False

    @property
    def demands(self) -> tuple[str, ...]:
        """The requirements that it judges, beside those of the values."""
        return tuple(dict.fromkeys(each for each in (self.changed, self.lost) if each is not None))


def _received(box: Mailbox, count: int) -> Any:
    return box.receive_handle


def _restarted(box: Mailbox, count: int, *, kill: bool) -> Any:
    box.mq.restart(kill=kill)
    box.judge.step("the manager is killed and started again" if kill else "the manager is restarted")
    box.open()
    return box.receive_handle


def _moved(box: Mailbox, count: int) -> Any:
    into = box.opened(f"{box.format_name};part", "move")
    for _ in range(count):
        seen = box.did("messages.peek", **box.reading())
        lookup = seen["message"].get("lookup_identifier") if seen is not None else None
        if lookup is None:
            break
        box.did("messages.move", queue=box.receive_handle, lookup_identifier=lookup, destination=into)
    return box.opened(f"{box.format_name};part", "receive")


def _aborted(box: Mailbox, count: int) -> Any:
    transaction = _begin(box)
    _taken(box, count, transaction=transaction)
    box.did("transactions.abort", transaction=transaction)
    return box.receive_handle


def _begin(box: Mailbox) -> Any:
    begun = box.did("transactions.begin")
    if begun is None:
        raise Unopened("no transaction could be begun")
    return begun["transaction"]


def _begun(box: Mailbox, count: int) -> Any:
    for read in _taken(box, count, method="messages.receive_begin"):
        box.did("messages.receive_end", read=read["read"], acknowledge=False)
    return box.receive_handle


def _journalled(box: Mailbox, count: int) -> Any:
    _taken(box, count)
    return box.opened(f"{box.format_name};JOURNAL", "receive")


def _kept(box: Mailbox, count: int, *, place: str, wait_ms: int = 0) -> Any:
    if wait_ms:
        box.passes(wait_ms)
    return box.opened(_system(box, place), "receive")


def _system(box: Mailbox, place: str) -> str:
    return f"DIRECT=OS:{box.mq.hello.computer}\\SYSTEM$;{place}"


def _taken(box: Mailbox, count: int, *, method: str = "messages.receive", **more: Any) -> list[Mapping[str, Any]]:
    """Receive this many messages, or as many as there are."""
    return [values for _ in range(count) if (values := box.did(method, **box.reading(), **more)) is not None]


_12: Final = "MQDMPR-3.1.1.12."
_SURVIVE: Final = requirement_id(f"{_12}recoverable-survives")
_COPIES: Final = {word: requirement_id(f"{_12}{word}-journaling") for word in ("positive", "negative")}
_JOURNAL: Final = requirement_id("MQMQ-2.3.1.4.journal-copy")
_RESTORES: Final = requirement_id("MQDMPR-3.1.7.1.12.restores")
_EXPIRY_MS: Final = 2_500  # a time to be received of one second, the second it may take longer, and a margin
PASSAGES: Final[Mapping[str, Passage]] = {
    "received": Passage(_received),
    "stopped": Passage(partial(_restarted, kill=False), SURVIVES, _SURVIVE, restarts=True),
    "killed": Passage(partial(_restarted, kill=True), SURVIVES, _SURVIVE, restarts=True),
    "moved": Passage(
        _moved,
        requirement_id("MQDMPR-3.1.7.1.16.unchanged"),
        requirement_id("MQDMPR-3.1.7.1.16.moved"),
        ("messages.move", "messages.peek"),
        ("subqueue",),
    ),
    "aborted": Passage(
        _aborted,
        requirement_id("MQDMPR-3.1.4.5.receives-return-unchanged"),
        requirement_id("MQDMPR-3.1.4.5.receives-return"),
        ("transactions.begin", "transactions.commit", "transactions.abort"),
        how={"PROPID_Q_TRANSACTION": 1},
    ),
    "begun-and-restored": Passage(_begun, _RESTORES, _RESTORES, ("messages.receive_begin", "messages.receive_end")),
    "journalled": Passage(_journalled, _JOURNAL, _JOURNAL, (), ("journal",), how={"PROPID_Q_JOURNAL": 1}, copies=True),
    "sent-with-a-copy": Passage(
        partial(_kept, place="JOURNAL"),
        _COPIES["positive"],
        _COPIES["positive"],
        names=("dead_letter",),
        copies=True,
        wishes={"positive_journaling": True},
    ),
    "expired": Passage(
        partial(_kept, place="DEADLETTER", wait_ms=_EXPIRY_MS),
        _COPIES["negative"],
        _COPIES["negative"],
        names=("dead_letter",),
        copies=True,
        wishes={"negative_journaling": True, "time_to_be_received": 1},
    ),
}
"""By name, for stories and tests."""


def longest(mq: Port) -> int:
    """Return the bytes of the longest body that a driver is sent, by what it declares."""
    return min(mq.hello.limits.get(MAX_BODY_BYTES, UNDECLARED_BYTES), MOST_BYTES)


def pass_values(mq: Port, judge: Recorder, *, passage: Passage) -> None:
    """Send a message with each class of values, do with all of them what the passage is, and receive them."""
    _pass(mq, judge, passage, VALUES)


def pass_large(mq: Port, judge: Recorder, *, passage: Passage) -> None:
    """Do so with large values, with the longest body, and with one byte more, which may be refused.

    Journals and dead-letter queues may have quotas that the longest body does not fit.
    """
    limit = longest(mq)
    values = {name: one for name, one in LARGE.items() if body_bytes(one) <= limit}
    if not passage.copies:
        values["the longest body"] = {"body": octets(limit)}
    _pass(mq, judge, passage, values)
    if passage is PASSAGES["received"] and limit == mq.hello.limits.get(MAX_BODY_BYTES):
        _pass(mq, judge, passage, {"a body of one byte more": {"body": octets(limit + 1)}}, refusable=True)


def _pass(
    mq: Port, judge: Recorder, passage: Passage, values: Mapping[str, Mapping[str, Any]], *, refusable: bool = False
) -> None:
    how = dict(passage.how or {})
    for member in (*(("delivery",) if passage.restarts else ()), *(passage.wishes or ())):
        if not mq.hello.takes("message", member):
            raise Unopened(f"no message can have {member}")
    box = Mailbox(mq, judge, name=f"values{mq.unique()}", **how)
    for place in ("JOURNAL", "DEADLETTER") if "dead_letter" in passage.names else ():
        box.empty(box.opened(_system(box, place), "receive"))
    sent = [
        (name, sending)
        for name, message in values.items()
        if (sending := _sent(box, message, passage, refusable)) is not None
    ]
    handle = passage.act(box, len(sent))
    for name, sending in sent:
        result = mq.call("messages.receive", queue=handle, timeout_ms=mq.hello.settle_ms)
        judge.step(f"receive {name}", {"method": "messages.receive"}, dict(result.values))
        judge.record(*_judged(box, passage, name, sending, result.values["message"] if result.ok else None))
    if mq.offers("queues.delete"):
        mq.call("queues.delete", format_name=box.format_name)


def _sent(box: Mailbox, message: Mapping[str, Any], passage: Passage, refusable: bool) -> Sending | None:
    """Send a message, in a transaction where the queue is transactional; None if the API cannot express it."""
    more: dict[str, Any] = {}
    whole = {"delivery": "recoverable", **message, **(passage.wishes or {})}
    within = bool((passage.how or {}).get("PROPID_Q_TRANSACTION"))
    if within:
        del whole["delivery"]
        more["transaction"] = _begin(box)
    try:
        sending = box.send(whole, refusable=refusable or "," in whole.get("response_queue", ""), **more)
    except refusals() as refused:
        if (what := lacking(refused)) is None:
            raise
        box.judge.lacks(what)
        sending = None
    if within:
        box.did("transactions.commit", **more)
    return sending


def _judged(
    box: Mailbox, passage: Passage, name: str, sending: Sending, seen: Mapping[str, Any] | None
) -> Iterator[Verdict]:
    verdicts = tuple(_compared(box, name, sending, seen, passage.changed, passage.lost))
    if passage.changed is not None and any(each.outcome is Outcome.FAIL for each in verdicts):
        # A value that no message arrives with is not blamed on what happened to this one.
        other = Mailbox(box.mq, box.judge, name=f"plain{box.mq.unique()}")
        own = {member: one for member, one in sending.message.items() if member not in (passage.wishes or {})}
        plain = other.did("messages.receive", **other.reading()) if other.send(own) is not None else None
        again = _compared(box, f"{name}, sent again", Sending(own), plain and plain["message"])
        yield from (each for each in again if each.outcome is Outcome.FAIL)
    yield from verdicts


def _compared(
    box: Mailbox,
    name: str,
    sending: Sending,
    seen: Mapping[str, Any] | None,
    changed: str | None = None,
    lost: str | None = None,
) -> Iterator[Verdict]:
    if seen is None:
        broken = lost or demanded(sending.message)
        yield Verdict(broken, Outcome.FAIL, name, {"received": True}, {"received": False})
        return
    box.queues_shown = box.queues_shown or "response_queue" in seen
    yield from judge_attributes(sending, seen, name, demand=changed, queues_shown=box.queues_shown)
