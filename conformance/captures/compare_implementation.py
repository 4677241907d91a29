"""`--against`: give the messages of a capture to an implementation, which must read them and queue them in order.

`packets.decode` reads each whole UserMessage that breaks no rule. Messages that can arrive anywhere are also delivered
with `packets.deliver`, in the order of the capture, addressed to queues created for them and with the present time as
sending time, so that none has expired. Then each queue is emptied and compared.
"""

from __future__ import annotations

import base64
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.files import scratch
from conformance.judge.packets.user_messages import DECODES, compare_read, plain_of_message, plain_of_packet, queue_name
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire import Packet, dissect, encode, rebuild

if TYPE_CHECKING:
    from conformance.harness.guarded_client import GuardedClient

MAX_HELD = 100_000
"""Messages delivered before the queues are emptied: until then, the expected content of each is in memory."""
MAX_BYTES = 64 << 20
MAX_DELIVERED = 1_000_000
"""Messages delivered in all: the identity of each is stored, to recognise one that was sent again."""
MAX_PAIRS = 1_000
INFINITE = 0xFFFFFFFF
_FIRST = 1

_ARRIVAL = requirement_id("MQDMPR-3.1.1.2.arrival-order")
_PRIORITY = requirement_id("MQDMPR-3.1.1.2.priority-before-arrival")
_AVAILABLE = requirement_id("MQDMPR-3.1.7.1.9.available")
_KEPT: Mapping[str, str] = {
    member: requirement_id(f"MQDMPR-3.1.1.12.{word}-unchanged")
    for member, word in (
        ("body", "body"),
        ("body_type", "body-type"),
        ("label", "label"),
        ("application_tag", "application-tag"),
        ("correlation_identifier", "correlation-identifier"),
        ("extension", "extension"),
        ("priority", "priority"),
        ("delivery", "delivery-guarantee"),
    )
}
"""Members of a received message that must be as sent, each with its requirement."""
CONTROL: Mapping[str, Any] = {
    "UserHeader.SourceQueueManager": "5c0f1a36-52a5-4c1b-9d0e-0a9f4c1d7b11",
    "UserHeader.MessageID": _FIRST,
    "MessagePropertiesHeader.Label": "control",
    "MessagePropertiesHeader.MessageBody": b"control",
}


class NotDeliverable(Exception):
    """The implementation cannot be given messages: `reason` tells what it lacks, or that a plain message fails."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class _Queue:
    format_name: str
    path: str
    transactional: bool
    expected: list[Packet] = field(default_factory=list)


@contextmanager
def implementation(
    connector: str,
    *,
    readings: Mapping[str, tuple[str, ...]],
    profile: str | None = None,
    deadline_ms: int = 10_000,
    in_process: bool = False,
) -> Iterator[Against]:
    """Start an implementation to give messages to, and stop it at the end. Raises AdapterError, NotDeliverable."""
    from conformance.harness.connecting import open_client
    from conformance.harness.guarded_client import GuardedClient

    with scratch("mqconform-replay-") as state:
        client = open_client(
            connector, state_dir=state, in_process=in_process, deadline_ms=deadline_ms, profile=profile
        )
        try:
            if client.offers("reset"):
                client.call("reset")
            yield Against(GuardedClient(client), readings)
        finally:
            client.close()


@dataclass(slots=True)
class Against:
    """One implementation that is given the messages of captures, one after the other.

    left_out: messages not given or not delivered, by reason. over: the driver has gone, or can no longer be used.
    """

    client: GuardedClient
    readings: Mapping[str, tuple[str, ...]]
    left_out: Counter[str] = field(default_factory=Counter)
    read: int = 0
    delivered: int = 0
    _queues: dict[tuple[str, bool], _Queue] = field(default_factory=dict)
    _sequences: dict[tuple[Any, ...], int] = field(default_factory=dict)
    _seen: set[int] = field(default_factory=set)
    _held: int = 0
    _bytes: int = 0
    _made: int = 0
    reads: bool = False
    delivers: bool = False
    over: bool = False

    def __post_init__(self) -> None:
        offers = self.client.offers
        self.reads = offers("packets.decode")
        needed = ("packets.deliver", "queues.create", "queues.open", "messages.receive")
        self.delivers = all(map(offers, needed))
        if not self.reads and not self.delivers:
            raise NotDeliverable("The driver offers neither packets.decode nor packets.deliver (with queues).")

    def surely(self, verdicts: Iterator[Verdict]) -> Iterator[Verdict]:
        """Yield the verdicts, and one more if the driver dies or proves unusable on the way; after that, nothing."""
        from conformance.adapter.errors import DriverTimeout
        from conformance.harness.guarded_client import DriverGone

        if self.over:
            return
        try:
            yield from verdicts
        except DriverGone as gone:
            self.over = True
            outcome = Outcome.TIMEOUT if isinstance(gone.fault, DriverTimeout) else Outcome.CRASH
            name = DECODES if gone.method == "packets.decode" else _AVAILABLE
            yield Verdict(name, outcome, gone.method, reason=gone.fault.sentence)
        except NotDeliverable as error:
            self.over = True
            yield Verdict(_AVAILABLE, Outcome.SKIP, "packets.deliver", reason=error.reason)

    def control(self) -> Iterator[Verdict]:
        """Give a plain message of the harness's own. Raises NotDeliverable if even that does not come through."""
        packet = dissect(encode("UserMessage", {**CONTROL, **_direct("OS:control\\private$\\control")}))
        good = list(self.give(packet, broken=False)) + list(self.empty())
        yield from good
        if self.left_out or any(verdict.outcome is Outcome.FAIL for verdict in good):
            raise NotDeliverable("A plain message of the harness's own does not come through; the rest was not tried.")
        self.read = self.delivered = 0

    def give(self, packet: Packet, *, broken: bool) -> Iterator[Verdict]:
        """Have a message read and deliver it. broken: it breaks a rule, so it is only counted."""
        if packet.kind != "UserMessage":
            return
        if broken or not packet.whole:
            self.left_out["they break a rule, or are not whole"] += 1
            return
        if self.reads:
            yield from self._decode(packet)
        if self.delivers:
            yield from self._deliver(packet)
        if self._held >= MAX_HELD or self._bytes >= MAX_BYTES:
            yield from self.empty()

    def empty(self) -> Iterator[Verdict]:
        """Receive everything from the queues, compare it, and delete the queues."""
        if self._queues and self.client.hello.clock == "real":
            time.sleep(self.client.hello.settle_ms / 1000)
        for queue in self._queues.values():
            yield from self._compare(queue)
        self._queues.clear()
        self._held = self._bytes = 0

    def _decode(self, packet: Packet) -> Iterator[Verdict]:
        evidence = _evidence(packet)
        result = self.client.call("packets.decode", packet=_base64(packet.data))
        self.read += 1
        if not result.ok:
            yield Verdict(
                DECODES,
                Outcome.FAIL,
                "packets.decode",
                {"message": "as the packet says"},
                {"status": result.status},
                evidence=evidence,
            )
            return
        yield Verdict(DECODES, Outcome.PASS, "packets.decode", evidence=evidence)
        yield from compare_read(packet, result.values["message"], readings=self.readings, evidence=evidence)

    def _deliver(self, packet: Packet) -> Iterator[Verdict]:
        why_not = self._unfit(packet)
        if why_not:
            self.left_out[why_not] += 1
            return
        transactional = packet.has("TransactionHeader")
        key = (str(queue_name(packet, "DestinationQueue")), transactional)
        queue = self._queues.get(key) or self._create(transactional)
        self._queues[key] = queue
        data = rebuild(
            packet,
            {
                **_direct(queue.format_name.removeprefix("DIRECT=")),
                "UserHeader.SentTime": int(time.time()),
                "UserHeader.TimeToBeReceived": INFINITE,
                "BaseHeader.TimeToReachQueue": INFINITE,
            },
        )
        result = self.client.call("packets.deliver", packet=_base64(data), source="192.0.2.1")
        self.delivered += 1
        if not result.ok:
            yield Verdict(
                _AVAILABLE,
                Outcome.FAIL,
                "packets.deliver",
                {"status": "success"},
                {"status": result.status},
                evidence=_evidence(packet, data),
            )
            return
        identity = hash((packet.fields["UserHeader.SourceQueueManager"], packet.fields["UserHeader.MessageID"]))
        if identity in self._seen:
            return  # A message that was sent again is queued once (MS-MQQB 3.1.5.8.1).
        self._seen.add(identity)
        queue.expected.append(packet)
        self._held += 1
        self._bytes += len(packet.data)

    def _unfit(self, packet: Packet) -> str:
        """Return why a message cannot be delivered under another address, empty if it can."""
        fields = packet.fields
        if len(self._seen) >= MAX_DELIVERED:
            return f"behind the first {MAX_DELIVERED:,}: read only"
        if fields.get("SecurityHeader.SignatureSize") or fields.get("SecurityHeader.Flags.EB"):
            return "signed or encrypted for another address: read only"
        if packet.has("SoapHeader") or packet.has("SRMPEnvelopeHeader") or packet.has("MultiQueueFormatHeader"):
            return "with headers that name the queue once more: read only"
        if packet.has("TransactionHeader"):
            get = fields.get
            stream = (
                get("UserHeader.SourceQueueManager"),
                queue_name(packet, "DestinationQueue"),
                get("TransactionHeader.TxSequenceID.TimeStamp"),
                get("TransactionHeader.TxSequenceID.Ordinal"),
            )
            number = int(get("TransactionHeader.TxSequenceNumber", 0))
            if number != _FIRST and number not in (self._sequences.get(stream, 0), self._sequences.get(stream, 0) + 1):
                return "of a transactional sequence whose beginning was not captured: read only"
            self._sequences[stream] = number
        return ""

    def _create(self, transactional: bool) -> _Queue:
        self._made += 1
        path = f"{self.client.hello.computer}\\private$\\mqconform-replay-{self._made}"
        properties = {"properties": {"PROPID_Q_TRANSACTION": 1}} if transactional else {}
        result = self.client.call("queues.create", path_name=path, **properties)
        if not result.ok or not str(result.values.get("format_name", "")).upper().startswith("DIRECT="):
            path_status = result.values.get("format_name", result.status)
            raise NotDeliverable(f"The queue {path} cannot be created with a direct format name ({path_status}).")
        return _Queue(str(result.values["format_name"]), path, transactional)

    def _compare(self, queue: _Queue) -> Iterator[Verdict]:
        opened = self.client.call("queues.open", format_name=queue.format_name, access="receive")
        if not opened.ok:
            raise NotDeliverable(f"The queue {queue.path}, which was just created, cannot be opened ({opened.status}).")
        handle = opened.values["queue"]
        found: list[Mapping[str, Any]] = []
        while len(found) <= len(queue.expected):  # One more than expected shows that there are too many.
            result = self.client.call("messages.receive", queue=handle, timeout_ms=0)
            if not result.ok:
                break
            found.append(result.values["message"])
        if self.client.offers("queues.close"):
            self.client.call("queues.close", queue=handle)
        if self.client.offers("queues.delete"):
            self.client.call("queues.delete", format_name=queue.format_name)
        yield from judge_queue(queue.expected, found, transactional=queue.transactional)


def judge_queue(sent: list[Packet], found: list[Mapping[str, Any]], *, transactional: bool) -> Iterator[Verdict]:
    """Compare the content of a queue with the messages delivered to it, in the order of their delivery.

    All must be present, none twice; higher priorities come first, and equal ones in order; contents are as sent.
    Members that the implementation does not report are not compared, nor is the priority of transactional messages.
    """
    members = [
        member
        for member in _KEPT
        if all(member in one for one in found) and not (transactional and member == "priority")
    ]
    wanted = [_part(plain_of_packet(packet), members) for packet in sent]
    given = [_part(plain_of_message(message), members) for message in found]
    subject = f"{len(sent)} messages delivered"
    order, missing, strange = _matched(wanted, given)
    if len(missing) == len(strange):
        yield from _changes(members, [wanted[at] for at in missing], [given[at] for at in strange], subject)
        yield Verdict(_AVAILABLE, Outcome.PASS, subject)
    else:
        actual = {"missing": len(missing), "not as sent": len(strange)}
        yield Verdict(_AVAILABLE, Outcome.FAIL, subject, {"messages": len(sent)}, actual)
    if missing or strange:
        return
    ranks = [wanted[at].get("priority", 0) for at in order]
    right = sorted(ranks, reverse=True)
    if "priority" in members:
        yield _ordered(_PRIORITY, subject, right, ranks)
    if ranks == right:
        yield _ordered(_ARRIVAL, subject, sorted(order, key=lambda at: (-wanted[at].get("priority", 0), at)), order)


def _part(plain: Mapping[str, Any], members: list[str]) -> dict[str, Any]:
    return {member: plain[member] for member in members}


def _matched(wanted: list[dict[str, Any]], given: list[dict[str, Any]]) -> tuple[list[int], list[int], list[int]]:
    """Return the wanted index of each given message that matches one, and the unmatched wanted and given indexes."""
    places: dict[str, deque[int]] = {}
    for at, one in enumerate(wanted):
        places.setdefault(repr(one), deque()).append(at)
    order, strange = [], []
    for at, one in enumerate(given):
        same = places.get(repr(one))
        if same:
            order.append(same.popleft())
        else:
            strange.append(at)
    return order, sorted(at for left in places.values() for at in left), strange


def _changes(
    members: list[str], wanted: list[dict[str, Any]], given: list[dict[str, Any]], subject: str
) -> Iterator[Verdict]:
    """Yield a verdict for each member: it never changed, or the first message in which it did."""
    pairs = list(zip(wanted[:MAX_PAIRS], given, strict=False))
    for member in members:
        changed = [(one[member], other[member]) for one, other in pairs if one[member] != other[member]]
        if changed:
            yield Verdict(
                _KEPT[member], Outcome.FAIL, "a message delivered", {member: changed[0][0]}, {member: changed[0][1]}
            )
        else:
            yield Verdict(_KEPT[member], Outcome.PASS, subject)


def _ordered(requirement: str, subject: str, expected: list[int], actual: list[int]) -> Verdict:
    if expected == actual:
        return Verdict(requirement, Outcome.PASS, subject)
    at = next(at for at, (one, other) in enumerate(zip(expected, actual, strict=True)) if one != other)
    window = slice(max(at - 2, 0), at + 6)
    return Verdict(
        requirement, Outcome.FAIL, subject, {"from": at, "order": expected[window]}, {"order": actual[window]}
    )


def _direct(name: str) -> dict[str, Any]:
    return {
        "UserHeader.Flags.DQ": 7,
        "UserHeader.QueueManagerAddress": "00000000-0000-0000-0000-000000000000",
        "UserHeader.DestinationQueue.DirectFormatName": name,
    }


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _evidence(packet: Packet, data: bytes | None = None) -> Evidence:
    return Evidence("packet", "given", {"packet": _base64(packet.data if data is None else data)})
