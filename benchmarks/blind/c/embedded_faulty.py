"""`python embedded_faulty.py [FAULT]`: the embedded queue manager on stdio, with one fault; without argument the control."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace as _replace  # noqa: F401
from typing import Any

from conformance.embedded.arrival import Arrival  # noqa: F401
from conformance.embedded.cursors import CursorOutcome, Cursors
from conformance.embedded.delivery import Delivery
from conformance.embedded.driver import EmbeddedDriver, Managers
from conformance.embedded.entities import CursorState, MqError, Operation, Reason, State
from conformance.embedded.manager import Parts
from conformance.embedded.names import _NAME_CHARS, NameParser
from conformance.embedded.outgoing import Outgoing
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
from conformance.embedded.rpc import serve_stdio
from conformance.embedded.sending import Sending
from conformance.embedded.store import Store
from conformance.embedded.transactions import Transactions

NOT_FOUND = 0xC00E0088
QUEUE_EXISTS = 0xC00E0005
USER = ("private", "public")
FAULTS: dict[str, Callable[[], Parts]] = {}


def fault(name: str) -> Callable[[Callable[[], Parts]], Callable[[], Parts]]:
    def register(make: Callable[[], Parts]) -> Callable[[], Parts]:
        FAULTS[name] = make
        return make

    return register


@fault("purge-nacks-arrival-wishes")
def _f1() -> Parts:
    class Mine(Delivery):
        def acknowledge_removal(self, message: Any, queue: Any, reason: Reason) -> None:
            wanted = message.fields["acknowledgements"]
            if (
                reason is Reason.PURGED
                and queue.kind in USER
                and "negative_arrival" in wanted
                and "negative_receive" not in wanted
            ):
                self.acknowledge(message, queue, reason.value)
            super().acknowledge_removal(message, queue, reason)

    return Parts(delivery=Mine)


@fault("begun-receive-keeps-cursor-read")
def _f2() -> Parts:
    class Mine(Receiving):
        def receive_begin(self, caller: Any, at: Any, cursor: Any, timeout_ms: int) -> None:
            before = cursor.state if cursor is not None else None
            super().receive_begin(caller, at, cursor, timeout_ms)
            if before is CursorState.READ and cursor.state is CursorState.UNREAD:
                cursor.state = CursorState.READ

    return Parts(reading=Mine)


@fault("failed-dequeue-makes-cursor-unread")
def _f3() -> Parts:
    class Mine(Cursors):
        def get_next_for_dequeue(self, cursor: Any, *, no_wait: bool) -> Any:
            read = cursor.state is CursorState.READ
            outcome, found = super().get_next_for_dequeue(cursor, no_wait=no_wait)
            gone = cursor.position is not None and cursor.position.state is State.DELETED
            if read and outcome is CursorOutcome.ALREADY_RECEIVED and gone:
                cursor.state = CursorState.UNREAD
            return outcome, found

    return Parts(cursors=Mine)


@fault("dead-letters-in-memory")
def _f4() -> Parts:
    class Mine(Delivery):
        def place(self, queue: Any, message: Any, **how: Any) -> Any:
            position = super().place(queue, message, **how)
            if queue is self.manager.queues.system("deadletter"):
                self.manager.store.drop_message(position.row)
            return position

    return Parts(delivery=Mine)


@fault("transactional-expiry-always-dead-letters")
def _f5() -> Parts:
    class Mine(Delivery):
        def delete(self, position: Any, reason: Reason) -> None:
            alive = position.state is not State.DELETED
            message, queue = position.message, position.queue
            super().delete(position, reason)
            if alive and reason is Reason.EXPIRED and queue.kind in USER and message.transactional:
                if not message.fields["negative_journaling"]:
                    self.copy(self.manager.queues.system("deadxact"), message)

    return Parts(delivery=Mine)


@fault("send-handle-follows-name")
def _f6() -> Parts:
    class Mine(Queues):
        def create(self, path_name: str, given: Any) -> str:
            name = super().create(path_name, given)
            made = self.find_local(name)
            assert made is not None
            for descriptor in self.manager.descriptors.values():
                old = descriptor.queue
                if descriptor.access == "send" and old is not None and old.deleted:
                    if old.path.lower() == made.path.lower():
                        descriptor.queue = made
                        made.descriptors.append(descriptor)
            return name

    return Parts(queues=Mine)


@fault("delete-ends-transactions-receives")
def _f7() -> Parts:
    class Mine(Queues):
        def delete(self, format_name: str) -> None:
            queue = self.find_local(format_name)
            super().delete(format_name)
            for transaction in self.manager.open_transactions.values():
                if any(step.position.queue is queue for step in transaction.steps):
                    for step in transaction.steps:
                        received = step.operation is Operation.DEQUEUE and step.position.queue is not queue
                        if received and step.position.state is not State.DELETED:
                            self.manager.delivery.remove(step.position)

    return Parts(queues=Mine)


@fault("journaling-as-at-arrival")
def _f8() -> Parts:
    class Mine(Delivery):
        def place(self, queue: Any, message: Any, **how: Any) -> Any:
            was = queue.journaling
            seen = self.__dict__.setdefault("seen", {})
            marked = message.fields  # the waiting reader may take the message inside
            if queue.kind in (*USER, "subqueue"):
                seen[id(marked)] = (marked, was)
            return super().place(queue, message, **how)

        def delete(self, position: Any, reason: Reason) -> None:
            queue = position.queue
            _, was = self.__dict__.setdefault("seen", {}).get(id(position.message.fields), (None, True))
            if reason is Reason.RECEIVED and queue.kind in USER and queue.journaling and not was:
                queue.properties["PROPID_Q_JOURNAL"] = 0
                try:
                    super().delete(position, reason)
                finally:
                    queue.properties["PROPID_Q_JOURNAL"] = 1
            else:
                super().delete(position, reason)

    return Parts(delivery=Mine)


@fault("restart-renumbers-subqueues")
def _f9() -> Parts:
    class Mine(Store):
        def messages(self) -> Any:
            for row in super().messages():
                sub = ";" in row.queue and ";;" not in row.queue and not row.queue.startswith("system")
                yield _replace(row, lookup=row.lookup + (1 << 40)) if sub else row

    return Parts(store=Mine)


@fault("journal-peek-by-lookup-removes")
def _f10() -> Parts:
    class Mine(Receiving):
        def by_lookup_id(self, caller: Any, at: Any, lookup: int, action: str, **how: Any) -> None:
            if at.queue is not None and at.queue.kind == "journal" and at.access == "receive":
                how["destructive"] = True
            super().by_lookup_id(caller, at, lookup, action, **how)

    return Parts(reading=Mine)


@fault("previous-stays-in-priority")
def _f11() -> Parts:
    class Mine(Receiving):
        def seek(self, queue: Any, lookup: int, action: str, destructive: bool) -> Any:
            found = super().seek(queue, lookup, action, destructive)
            named = queue.positions.find(lookup)
            if action == "previous" and named is not None:
                if named.message.fields["priority"] != found.message.fields["priority"]:
                    raise MqError(NOT_FOUND)
            return found

    return Parts(reading=Mine)


@fault("subqueue-lookup-falls-back-to-queue")
def _f12() -> Parts:
    class Mine(Receiving):
        def seek(self, queue: Any, lookup: int, action: str, destructive: bool) -> Any:
            if queue.kind == "subqueue" and action == "current" and queue.positions.find(lookup) is None:
                queue = queue.parent
            return super().seek(queue, lookup, action, destructive)

    return Parts(reading=Mine)


@fault("administration-queue-defaults-to-response-queue")
def _f13() -> Parts:
    class Mine(Sending):
        def make(self, given: Any, *, transactional: bool) -> Any:
            if given.get("acknowledgements") and given.get("response_queue") and "administration_queue" not in given:
                given = {**given, "administration_queue": given["response_queue"]}
            return super().make(given, transactional=transactional)

    return Parts(sending=Mine)


@fault("moved-back-goes-to-the-end")
def _f14() -> Parts:
    class Mine(Transactions):
        def relocate(self, position: Any, target: Any) -> None:
            delivery = self.manager.delivery
            delivery.remove(position)
            placed = delivery.place(target, position.message, limited=False)
            if target.kind in USER and placed.state is State.AVAILABLE:
                target.positions.remove(placed)
                placed.key = 8 << 56 | placed.row
                target.positions.insert(placed)
                delivery.keep(placed)

    return Parts(transactions=Mine)


@fault("repeated-move-succeeds")
def _f15() -> Parts:
    class Mine(Transactions):
        def move(self, source: Any, lookup: int, destination: Any, transaction: Any) -> None:
            done = self.__dict__.setdefault("done", set())
            same = (id(source.queue), lookup, id(destination.queue))
            try:
                super().move(source, lookup, destination, transaction)
            except MqError as failure:
                if failure.status != NOT_FOUND or same not in done:
                    raise
            done.add(same)
            self.__dict__.setdefault("kept", []).append((source.queue, destination.queue))

    return Parts(transactions=Mine)


@fault("unknown-private-number-is-outgoing")
def _f16() -> Parts:
    class Mine(Queues):
        def _missing_here(self, name: Any) -> bool:
            return name.kind == "direct" and super()._missing_here(name)

    return Parts(queues=Mine)


@fault("subqueue-name-allows-plus")
def _f17() -> Parts:
    class Mine(NameParser):
        def __init__(self, profile: str) -> None:
            super().__init__(profile)
            self._subqueue = re.compile(rf"[\x2B{_NAME_CHARS}]{{1,{self.longest_subqueue_name()}}}\Z")

    return Parts(names=Mine)


@fault("multicast-last-octet-to-299")
def _f18() -> Parts:
    class Mine(NameParser):
        def multicast_octets(self, octets: list[int]) -> bool:
            if 256 <= octets[3] <= 299:
                octets = [*octets[:3], 255]
            return super().multicast_octets(octets)

    return Parts(names=Mine)


@fault("held-queue-is-not-stored")
def _f19() -> Parts:
    class Keeps(Delivery):
        def keep(self, position: Any) -> None:
            if position.queue.kind == "outgoing" and position.queue.paused:
                return
            super().keep(position)

    class Holds(Outgoing):
        def let_go(self, queue: Any) -> None:
            super().let_go(queue)
            for position in queue.positions:
                if not position.uncommitted:
                    self.manager.delivery.keep(position)

    return Parts(delivery=Keeps, outgoing=Holds)


@fault("prepared-sends-leave-despite-abort")
def _f20() -> Parts:
    class Mine(Transactions):
        def abort(self, transaction: Any) -> None:
            self._end(transaction)
            for step in transaction.steps:
                if step.position.state is State.DELETED:
                    continue
                sent = step.operation is Operation.ENQUEUE and step.position.queue.kind == "outgoing"
                if transaction.prepared and sent:
                    self.commit_step(step)
                else:
                    self.abort_step(step)

    return Parts(transactions=Mine)


@fault("holds-are-counted")
def _f21() -> Parts:
    class Mine(Outgoing):
        def hold(self, queue: Any) -> None:
            holds = self.__dict__.setdefault("holds", {})
            holds[queue.id] = holds.get(queue.id, 0) + 1
            super().hold(queue)

        def let_go(self, queue: Any) -> None:
            holds = self.__dict__.setdefault("holds", {})
            holds[queue.id] = max(0, holds.get(queue.id, 0) - 1)
            queue.paused = holds[queue.id] > 0

    return Parts(outgoing=Mine)


@fault("purge-journals-recoverable")
def _f22() -> Parts:
    class Mine(Queues):
        def purge_position(self, position: Any) -> None:
            queue = position.queue
            available = position.state is State.AVAILABLE
            if available and queue.kind in USER and queue.journaling and position.message.recoverable:
                self.manager.delivery.copy(queue.journal, position.message)
            super().purge_position(position)

    return Parts(queues=Mine)


@fault("create-again-sets-journaling")
def _f23() -> Parts:
    class Mine(Queues):
        def create(self, path_name: str, given: Any) -> str:
            try:
                return super().create(path_name, given)
            except MqError as failure:
                if failure.status == QUEUE_EXISTS and "PROPID_Q_JOURNAL" in given:
                    queue = self._by_path[path_name.partition("\\")[2].lower()]
                    queue.properties["PROPID_Q_JOURNAL"] = int(given["PROPID_Q_JOURNAL"])
                    self._store(queue)
                raise

    return Parts(queues=Mine)


@fault("set-label-has-message-limit")
def _f24() -> Parts:
    class Mine(Queues):
        def properties_to_keep(self, given: Any, *, creating: bool) -> Any:
            label = given.get("PROPID_Q_LABEL")
            if not creating and isinstance(label, str) and 124 < len(label) <= 249 and "\0" not in label:
                rest = {name: value for name, value in given.items() if name != "PROPID_Q_LABEL"}
                return {**super().properties_to_keep(rest, creating=creating), "PROPID_Q_LABEL": label}
            return super().properties_to_keep(given, creating=creating)

    return Parts(queues=Mine)


@fault("committed-receive-keeps-its-bytes")
def _f25() -> Parts:
    class Mine(Transactions):
        def commit_step(self, step: Any) -> None:
            queue, size = step.position.queue, step.position.message.size
            super().commit_step(step)
            if step.operation is Operation.DEQUEUE and queue.quota_kb != 0xFFFFFFFF and queue.kind in USER:
                queue.bytes += size

    return Parts(transactions=Mine)


@fault("restart-puts-aborted-last")
def _f26() -> Parts:
    class Mine(Transactions):
        def give_back(self, position: Any) -> None:
            super().give_back(position)
            if position.state is State.AVAILABLE:
                place = position.key
                position.key = position.queue.positions.order(position.message, self.manager.next_sequence())
                self.manager.delivery.keep(position)
                position.key = place

    return Parts(transactions=Mine)


@fault("deleted-queue-with-subqueue-returns")
def _f27() -> Parts:
    class Mine(Queues):
        def delete(self, format_name: str) -> None:
            queue = self.find_local(format_name)
            super().delete(format_name)
            if queue is not None and queue.subqueues:
                self._store(queue)

    return Parts(queues=Mine)


@fault("first-and-last-by-handle")
def _f28() -> Parts:
    class Sends(Sending):
        def send(self, descriptor: Any, given: Any, transaction: Any) -> Any:
            before = len(transaction.steps) if transaction is not None else 0
            try:
                return super().send(descriptor, given, transaction)
            finally:
                if transaction is not None:
                    senders = self.manager.__dict__.setdefault("senders", {})
                    for step in transaction.steps[before:]:
                        senders[id(step.position)] = (step.position, descriptor.handle)

    class Ends(Transactions):
        def prepare(self, transaction: Any) -> None:
            senders = self.manager.__dict__.setdefault("senders", {})
            sends: dict[Any, list[Any]] = {}
            for step in transaction.steps:
                if step.operation is Operation.ENQUEUE:
                    handle = senders.get(id(step.position), (None, None))[1]
                    sends.setdefault((step.position.queue.id, handle), []).append(step.position)
            for positions in sends.values():
                for position in positions:
                    position.message.fields["first_in_transaction"] = position is positions[0]
                    position.message.fields["last_in_transaction"] = position is positions[-1]
            transaction.prepared = True

    return Parts(sending=Sends, transactions=Ends)


@fault("seek-last-stops-at-locked-tail")
def _f29() -> Parts:
    class Mine(Receiving):
        def seek(self, queue: Any, lookup: int, action: str, destructive: bool) -> Any:
            if action == "last":
                positions = list(queue.positions)
                if positions and positions[-1].state is State.LOCKED:
                    raise MqError(NOT_FOUND)
            return super().seek(queue, lookup, action, destructive)

    return Parts(reading=Mine)


@fault("waiting-receive-of-given-back-leaves-transaction")
def _f30() -> Parts:
    class Ends(Transactions):
        def give_back(self, position: Any) -> None:
            self.manager.giving_back = True  # type: ignore[attr-defined]
            try:
                super().give_back(position)
            finally:
                self.manager.giving_back = False  # type: ignore[attr-defined]

    class Reads(Receiving):
        def take(self, position: Any, transaction: Any) -> Any:
            if getattr(self.manager, "giving_back", False):
                transaction = None
            return super().take(position, transaction)

    return Parts(transactions=Ends, reading=Reads)


def main() -> int:
    """Serve on stdin and stdout."""
    registry = Managers()
    if len(sys.argv) > 1:
        if sys.argv[1] not in FAULTS:
            print(f"no fault {sys.argv[1]}; there are: {', '.join(FAULTS)}", file=sys.stderr)
            return 2
        registry._parts = FAULTS[sys.argv[1]]()
    serve_stdio(EmbeddedDriver(None, registry=registry), sys.stdin.buffer, sys.stdout.buffer, real_clock=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
