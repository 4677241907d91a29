"""Transactional messages from other computers, and what management tells of their transfer: MS-MQDMPR 3.1.1.5.

The driver's own methods make and deliver the packets; PROPID_MGMT_QUEUE_EOD_SOURCE_INFO tells how they came.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.harness.guarded_client import lacking, refusals
from conformance.model.management_rows import QUEUE, ROWS, columns, no_value, value_of
from conformance.verdict import Json, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

KIND: Final = "incoming"
NEEDS: Final = ("queues.create", "packets.encode", "packets.deliver", "management.get")
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


class Untold(ValueError):
    """The driver makes no such packet, does not deliver it, or tells nothing of it."""


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
class Came:
    """What must be told of a sequence. number: of its last message. rejects: how often that was rejected before."""

    sequence: Source
    number: int
    rejects: int
    since: int | None
    until: int | None

    def items(self) -> Mapping[str, Json]:
        """Return the values of the six items; of the time, those between which it lies."""
        its = self.sequence
        return {
            "format-name": its.name,
            "sender-identifier": its.sender,
            "sequence-identifier": its.identifier,
            "sequence-number": self.number,
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

    def deliver(self, sequence: Source, number: int, body: bytes = _SMALL, *, rejects: int = 0) -> bool:
        """Deliver a message of a sequence, after some time; return True if it was taken."""
        if self.mq.offers("clock.advance") and self.mq.hello.clock == "virtual":
            self.mq.call("clock.advance", by_ms=_PAUSE_MS)
        began = self._now()
        delivered = self._delivered(sequence, number, body)
        self.judge.step(
            f"deliver message {number} of sequence {sequence.ordinal} from {sequence.sender} to {sequence.name}",
            {"method": "packets.deliver"},
            {"taken": delivered},
        )
        if delivered:
            self.came[sequence] = Came(sequence, number, rejects, began, self._now())
        return delivered

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
        for came, entry in self._paired(due, entries):
            for (word, wanted), holds in zip(came.items().items(), _holds(came, entry), strict=True):
                self._record(INFO[word], holds, wanted, entry)

    @staticmethod
    def _paired(due: Sequence[Came], entries: Sequence[list[Json]]) -> list[tuple[Came, list[Json]]]:
        """Return what is due with what is told of it: the entry that agrees with it in most items."""
        left, found = list(entries), []
        for came in due:
            best = max(left, key=lambda entry: sum(_holds(came, entry)))
            left.remove(best)
            found.append((came, best))
        return found

    def _delivered(self, sequence: Source, number: int, body: bytes) -> bool:
        transaction: dict[str, Json] = {
            "sequence_identifier": {"ordinal": sequence.ordinal, "timestamp": sequence.timestamp},
            "sequence_number": number,
            "previous_sequence_number": number - 1,
            "index": 1,
            "first": True,
            "last": True,
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


def _holds(came: Came, entry: Sequence[Json]) -> tuple[bool, ...]:
    """Tell of each item whether it is told rightly."""
    name, sender, sequence, number, accessed, rejects = entry
    began, ended = came.since, came.until  # both are rounded up, and what is told may be rounded down
    on_time = began is None or ended is None or (isinstance(accessed, int) and began - 1 <= accessed <= ended)
    its = came.sequence
    same = (name == its.name, str(sender).lower() == its.sender, sequence == its.identifier, number == came.number)
    return (*same, on_time, rejects == came.rejects)


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


Story = Callable[["Port", "Recorder"], None]
STORIES: Final[Mapping[str, Story]] = MappingProxyType(
    {"one-sender": one_sender, "two-senders": senders_beside_each_other, "rejected-before": rejected_before}
)


def tell(name: str, mq: Port, judge: Recorder) -> None:
    """Run a story. Raises ConformanceFailure, and Untold if the driver does not let it happen."""
    judge.begin_example(KIND, {"story": name})
    STORIES[name](mq, judge)
