"""Transactional messages from other computers, and what management tells of their transfer: MS-MQDMPR 3.1.1.5.

The driver's own methods make and deliver the packets; PROPID_MGMT_QUEUE_EOD_SOURCE_INFO tells how they came.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.harness.guarded_client import lacking, refusals
from conformance.model.management_rows import QUEUE, ROWS, columns, no_value, value_of
from conformance.suites.story_table import StoryTable, Untold
from conformance.verdict import Json, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

KIND: Final = "incoming"
NEEDS: Final = ("queues.create", "packets.encode", "packets.deliver", "management.get")
OTHER_CLAIMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"rejected-before": ("queues.set",), "read": ("queues.open", "messages.receive", "queues.purge")}
)
"""The other needs of a story."""
INFO: Final[Mapping[str, str]] = {
    name: f"MQDMPR-3.1.1.5.{name}"
    for name in (
        *("format-name", "sender-identifier", "sequence-identifier", "sequence-number"),
        *("last-access-time", "reject-count"),
    )
}
COLLECTION: Final = "MQDMPR-3.1.1.2.incoming-transfer-info-collection"
SENDER, OTHER = "6f9619ff-8b86-d011-b42d-00c04fc964ff", "2c1e7d43-51a0-4b6e-9f3c-7a8d0e5b6c21"
_ROW: Final = ROWS[f"{QUEUE}EOD_SOURCE_INFO"]
_PAUSE_MS: Final = 7_000  # between two messages, so that the times of the first and the last differ
_SMALL, _LARGE = b"foo", b"x" * 2000
_KILOBYTE, _PLENTY = 1, 100  # quotas that the large body exceeds and fits


@dataclass(frozen=True, slots=True)
class Source:
    """A transactional sequence. name: the format name by which its sender calls the queue. sender: a manager's GUID."""

    name: str
    sender: str
    ordinal: int
    timestamp: int = 1_600_000_000

    @property
    def identifier(self) -> str:
        """The number that stands for the TxSequenceID, MS-MQMQ 2.2.18.1.2."""
        return str(self.timestamp << 32 | self.ordinal)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message stands in its transaction. before: the number of the message before it, None for one less."""

    index: int = 1
    first: bool = True
    last: bool = True
    before: int | None = None


ALONE: Final = Place()
_FIRST, _MIDDLE, _LAST = Place(last=False), Place(2, first=False, last=False), Place(3, first=False)


@dataclass(frozen=True, slots=True)
class Came:
    """The values that a sequence must show.

    number: of its last message. rejects: how often that was rejected before; None where the text leaves it open.
    beside: the number of a message that came out of order since, and is the last one that was sent (MS-MQDMPR 3.1.1.5).
    """

    sequence: Source
    number: int
    rejects: int | None
    since: int | None
    until: int | None
    beside: int | None = None

    def items(self) -> Mapping[str, Json]:
        """Return the values of the six items; of the time, those between which it lies."""
        its = self.sequence
        return {
            "format-name": its.name,
            "sender-identifier": its.sender,
            "sequence-identifier": its.identifier,
            "sequence-number": self.number if self.beside is None else {"one of": [self.number, self.beside]},
            "last-access-time": {"seconds": [self.since, self.until]},
            "reject-count": self.rejects,
        }


class Incoming:
    """A queue to which packets are delivered, and what came to it so far."""

    def __init__(self, mq: Port, judge: Recorder, name: str, **properties: Json) -> None:
        self.mq, self.judge = mq, judge
        self.path = f"{mq.hello.computer}\\private$\\mqconform-incoming-{name}"
        given: dict[str, Json] = {"PROPID_Q_TRANSACTION": 1, **properties}
        made = mq.call("queues.create", path_name=self.path, properties=given)
        judge.step(f"create a queue with {given}", {"method": "queues.create"}, {"status": made.status})
        if not made.ok:
            raise Untold("no queue could be created to deliver messages to")
        self.name = str(made.values["format_name"])
        self.came: dict[Source, Came] = {}

    def deliver(
        self, sequence: Source, number: int, body: bytes = _SMALL, *, rejects: int | None = 0, place: Place = ALONE
    ) -> bool:
        """Deliver a message of a sequence, after some time; return True if it was taken."""
        if self.mq.offers("clock.advance") and self.mq.hello.clock == "virtual":
            self.mq.call("clock.advance", by_ms=_PAUSE_MS)
        began = self._now()
        delivered = self._delivered(sequence, number, body, place)
        self.judge.step(
            f"deliver message {number} of sequence {sequence.ordinal} from {sequence.sender} to {sequence.name}",
            {"method": "packets.deliver"},
            {"taken": delivered},
        )
        if delivered:
            self.came[sequence] = Came(sequence, number, rejects, began, self._now())
        return delivered

    def take(self, sequence: Source, number: int, *, rejects: int | None = 0, place: Place = ALONE) -> None:
        """Deliver a message that must be taken, and look. Raises Untold if it is not."""
        if not self.deliver(sequence, number, rejects=rejects, place=place):
            raise Untold("a transactional packet is not taken that comes in order")
        self.look()

    def refuse(self, sequence: Source, number: int, *, place: Place = ALONE) -> None:
        """Deliver a message that comes twice or out of order, and look: it is told, or the one before it still is."""
        came = self.came[sequence]
        self.deliver(sequence, number, place=place)
        self.came[sequence] = replace(came, until=self._now(), rejects=None, beside=number)
        self.look()

    def look(self) -> None:
        """Judge what is told of the sequences."""
        target = {"type": "queue", "format_name": self.name}
        told = self.mq.call("management.get", target=target, properties=[_ROW.number])
        given: Json = told.values["values"][0] if told.ok else None
        self.judge.step("read EOD_SOURCE_INFO", {"method": "management.get"}, {"values": given})
        if not told.ok or no_value(given):
            raise Untold("the driver tells nothing of what comes from other computers")
        self._record(_ROW.shown, _ROW.of_type(given), _ROW.vt, given)
        found = [value_of(one) for one in columns(given)]
        entries = [list(row) for row in zip(*(one for one in found if isinstance(one, list)), strict=False)]
        due = list(self.came.values())
        self._record(COLLECTION, len(entries) == len(due), {"entries": len(due)}, entries)
        if any(len(entry) != len(INFO) for entry in entries):
            raise Untold("the source information has not its six items")
        for came, entry in self._paired(due, entries):
            for (word, wanted), right in zip(came.items().items(), holds(came, entry), strict=True):
                self._record(INFO[word], right, wanted, entry)

    @staticmethod
    def _paired(due: Sequence[Came], entries: Sequence[list[Json]]) -> list[tuple[Came, list[Json]]]:
        """Return what is due with what is told of it: the entry that agrees with it in most items."""
        left, found = list(entries), []
        for came in due:
            best = max(left, key=lambda entry: sum(holds(came, entry)))
            left.remove(best)
            found.append((came, best))
        return found

    def _delivered(self, sequence: Source, number: int, body: bytes, place: Place) -> bool:
        transaction: dict[str, Json] = {
            "sequence_identifier": {"ordinal": sequence.ordinal, "timestamp": sequence.timestamp},
            "sequence_number": number,
            "previous_sequence_number": number - 1 if place.before is None else place.before,
            "index": place.index,
            "first": place.first,
            "last": place.last,
        }
        message: dict[str, Json] = {
            "destination": sequence.name,
            "body": base64.b64encode(body).decode(),
            "transaction": transaction,
            "identifier": {"source": sequence.sender, "ordinal": sequence.ordinal * 100 + number},
        }
        try:
            packet = self.mq.call("packets.encode", message=message)
            return packet.ok and self.mq.call("packets.deliver", packet=packet.values["packet"]).ok
        except refusals() as refused:
            if lacking(refused) is None:
                raise
            return False

    def _now(self) -> int | None:
        """Return the implementation's time in seconds, rounded up; None where it does not show its clock."""
        told = self.mq.call("clock.now") if self.mq.offers("clock.now") else None
        return -(-int(told.values["time_ms"]) // 1000) if told is not None and told.ok else None

    def _record(self, demand: str, holds: bool, expected: Json, actual: Json) -> None:
        outcome = Outcome.PASS if holds else Outcome.FAIL
        self.judge.record(Verdict(demand, outcome, "EOD_SOURCE_INFO", expected, actual))


def holds(came: Came, entry: Sequence[Json]) -> tuple[bool, ...]:
    """Tell of each item whether it is told rightly."""
    name, sender, sequence, number, accessed, rejects = entry
    began, ended = came.since, came.until  # both are rounded up, and what is told may be rounded down
    on_time = began is None or ended is None or (isinstance(accessed, int) and began - 1 <= accessed <= ended)
    its = came.sequence
    same = (
        name == its.name,
        str(sender).lower() == its.sender,
        sequence == its.identifier,
        number in (came.number, came.beside),
    )
    return (*same, on_time, came.rejects is None or rejects == came.rejects)


def one_sender(mq: Port, judge: Recorder) -> None:
    """Three messages of one sequence come; each is told by the one entry of the sequence."""
    queue = Incoming(mq, judge, "one")
    sequence = Source(queue.name, SENDER, 5)
    for number in (1, 2, 3):
        if not queue.deliver(sequence, number):
            raise Untold("no transactional packet could be made and delivered")
        queue.look()


def senders_beside_each_other(mq: Port, judge: Recorder) -> None:
    """Two managers send in turn, one of them by another spelling of the queue's name, and then in a new sequence."""
    queue = Incoming(mq, judge, "two")
    respelled = f"DIRECT=OS:{queue.path.swapcase()}"
    one, other = Source(queue.name, SENDER, 5), Source(respelled, OTHER, 9)
    for sequence, number in ((one, 1), (other, 1), (one, 2), (other, 2), (Source(queue.name, SENDER, 6), 1)):
        if not queue.deliver(sequence, number):
            raise Untold("no transactional packet could be made and delivered")
        queue.look()


def rejected_before(mq: Port, judge: Recorder) -> None:
    """A message does not fit the quota until it is raised; the one behind it was never rejected."""
    queue = Incoming(mq, judge, "rejected", PROPID_Q_QUOTA=_KILOBYTE)
    sequence, rejects = Source(queue.name, SENDER, 5), 2
    if not queue.deliver(sequence, 1):
        raise Untold("no transactional packet could be made and delivered")
    for _ in range(rejects):
        if queue.deliver(sequence, 2, _LARGE):
            raise Untold("a message that does not fit the quota is not rejected")
    mq.call("queues.set", format_name=queue.name, properties={"PROPID_Q_QUOTA": _PLENTY})
    if not queue.deliver(sequence, 2, _LARGE, rejects=rejects):
        raise Untold("a message that was rejected is not taken later")
    queue.look()
    if queue.deliver(sequence, 3):
        queue.look()


def transactions_of_several(mq: Port, judge: Recorder) -> None:
    """Transactions of three messages, of two and of one: each message is told by its own number."""
    queue = Incoming(mq, judge, "several")
    sequence = Source(queue.name, SENDER, 5)
    for number, place in enumerate((_FIRST, _MIDDLE, _LAST, _FIRST, replace(_LAST, index=2), ALONE), 1):
        queue.take(sequence, number, place=place)


def transactions_beside_each_other(mq: Port, judge: Recorder) -> None:
    """Transactions of two senders come message by message in turn, to a queue each and to one for both."""
    one, other = Incoming(mq, judge, "left"), Incoming(mq, judge, "right")
    ways = [(one, SENDER, 5), (other, SENDER, 7), (one, OTHER, 9)]
    for number, place in enumerate((_FIRST, _MIDDLE, _LAST, ALONE), 1):
        for queue, sender, ordinal in ways:
            queue.take(Source(queue.name, sender, ordinal), number, place=place)
    one.look()
    other.look()


def twice_and_out_of_order(mq: Port, judge: Recorder) -> None:
    """A message that comes twice, or before its turn, leaves the number of the last message that was taken."""
    queue = Incoming(mq, judge, "order")
    sequence = Source(queue.name, SENDER, 5)
    queue.take(sequence, 1)
    queue.refuse(sequence, 1)
    queue.take(sequence, 2, rejects=None)
    for number in (4, 1, 2, 5):
        queue.refuse(sequence, number)
    for number in (3, 4):
        queue.take(sequence, number, rejects=None)
    queue.refuse(sequence, 3)
    queue.take(sequence, 5, rejects=None)


def with_a_gap(mq: Port, judge: Recorder) -> None:
    """A message whose number before it is that of the last one is in order, however far its own number is."""
    queue = Incoming(mq, judge, "gap")
    sequence = Source(queue.name, SENDER, 5)
    queue.take(sequence, 2, place=Place(before=0))
    queue.take(sequence, 6, place=Place(before=2))
    queue.take(sequence, 9, place=Place(before=4))
    queue.refuse(sequence, 7, place=Place(before=6))
    queue.take(sequence, 70_000, rejects=None, place=Place(before=9))


def read_from_the_queue(mq: Port, judge: Recorder) -> None:
    """The state of a sequence stays when its messages are read, and goes on with the next one."""
    queue = Incoming(mq, judge, "read")
    sequence = Source(queue.name, SENDER, 5)
    queue.take(sequence, 1)
    queue.take(sequence, 2)
    reader = mq.call("queues.open", format_name=queue.name, access="receive")
    if not reader.ok:
        raise Untold("the queue cannot be opened to read from it")
    taken = mq.call("messages.receive", queue=reader.values["queue"], timeout_ms=mq.hello.settle_ms)
    judge.step("receive", {"method": "messages.receive"}, {"status": taken.status})
    queue.look()
    queue.take(sequence, 3)
    purged = mq.call("queues.purge", queue=reader.values["queue"])
    judge.step("purge", {"method": "queues.purge"}, {"status": purged.status})
    queue.look()
    queue.take(sequence, 4)


Story = Callable[["Port", "Recorder"], None]
STORIES: Final[Mapping[str, Story]] = MappingProxyType(
    {
        "one-sender": one_sender,
        "two-senders": senders_beside_each_other,
        "rejected-before": rejected_before,
        "several-messages": transactions_of_several,
        "transactions-in-turn": transactions_beside_each_other,
        "out-of-order": twice_and_out_of_order,
        "gap": with_a_gap,
        "read": read_from_the_queue,
    }
)
TABLE: Final = StoryTable("management", KIND, STORIES, NEEDS)
