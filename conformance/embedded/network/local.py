"""The local queues of a queue manager on the network: whose names are its own, and what leaves them is acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import Message, Position, Queue, Reason
from conformance.embedded.queues import Queues

if TYPE_CHECKING:
    from conformance.embedded.network.node import Node


class NetworkQueues(Queues):
    """hosts: the addresses of this queue manager, in lower case. Another loopback address is another computer."""

    hosts: ClassVar[frozenset[str]] = frozenset()

    def is_local(self, computer: str) -> bool:
        own = self.manager.computer.lower()
        return computer.lower() in (".", "localhost", own, f"{own}.local", *self.hosts)


class NetworkDelivery(Delivery):
    """Sends the acknowledgments of messages that leave a queue to where the messages came from (MS-MQQB 3.1.7.2).

    node: None until it has started; nothing leaves a queue before.
    """

    node: Node | None = None

    def place(self, queue: Queue, message: Message, *, uncommitted: bool = False, limited: bool = True) -> Position:
        position = super().place(queue, message, uncommitted=uncommitted, limited=limited)
        if self.node is not None:
            self.node.stays(position)
        return position

    def acknowledge_from(self, message: Message, origin: str, message_class: int) -> None:
        came = (message.carried or {}).get("came")
        if self.node is None or came is None:
            return super().acknowledge_from(message, origin, message_class)
        read = {**message.fields, **came["read"]}
        return self.node.acknowledging.administration(None, read, message_class, bytes.fromhex(came["remote"]))

    def delete(self, position: Position, reason: Reason) -> None:
        leaves = position.queue.kind in ("private", "public")
        super().delete(position, reason)
        came = (position.message.carried or {}).get("came")
        if leaves and self.node is not None and came is not None and self.wants_final(position.message):
            read = {**position.message.fields, **came["read"]}
            remote = bytes.fromhex(came["remote"])
            self.node.acknowledging.final_to(read, reason.value, remote, came["address"], direct=came["direct"])

    def wants_final(self, message: Message) -> bool:
        """Return true for a transactional message whose removal has a FinalAck (MS-MQQB 3.1.7.2.2)."""
        transaction = (message.carried or {})["came"]["read"].get("transaction")
        if transaction is None:
            return False
        journaled = message.fields["positive_journaling"] or message.fields["negative_journaling"]
        return bool(journaled or transaction["final_ack_required"])
