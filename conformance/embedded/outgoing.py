"""Hold outgoing queues and transfer their messages (MS-MQDMPR 3.1.1.3, 3.1.7.2.3, 3.1.7.2.4).

There is no network. The caller that takes the packets is the peer of every possible session (MS-MQQB 3.1.7.1): a packet
given to it counts as transferred and acknowledged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import Message, MqError, Position, Queue, State

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
MOST_TEXT = 7_000_000  # characters of base64 in one answer, which is one line of at most 8 MiB
_SAME = (  # members that message and packet have in the same form
    *("label", "body", "body_type", "priority", "delivery", "class", "application_tag", "correlation_identifier"),
    *("positive_journaling", "negative_journaling", "acknowledgements", "time_to_reach_queue", "time_to_be_received"),
    *("trace", "extension", "identifier", "sent_time"),
)


class Outgoing:
    """Holds outgoing queues and transfers their messages."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    def pause(self, format_name: str) -> None:
        """Pause Queue (3.1.4.14). Raises MqError if the queue is not an outgoing one."""
        self.hold(self.manager.queues.outgoing(format_name))

    def resume(self, format_name: str) -> None:
        """Resume Queue (3.1.4.15). Raises MqError if the queue is not an outgoing one."""
        self.let_go(self.manager.queues.outgoing(format_name))

    def hold(self, queue: Queue) -> None:
        """Pause Queue (3.1.7.2.3). The state ends with the process: 3.1.1.3 does not call it persistent."""
        queue.paused = True

    def let_go(self, queue: Queue) -> None:
        """Resume Queue (3.1.7.2.4)."""
        if queue.paused:
            self.manager.transfers.resumed(queue)
        queue.paused = False

    def on_hold(self, queue: Queue) -> bool:
        """Return true if no message may leave the queue."""
        return queue.paused

    def take(self, format_name: str) -> list[str]:
        """Transfer the messages of an outgoing queue: return their packets in base64, in order; none while on hold.

        Takes as many as fit into an answer; the rest stay. Raises MqError if the queue is not an outgoing one.
        """
        queue = self.manager.queues.outgoing(format_name)
        if self.on_hold(queue):
            return []
        return self.transfer(queue, self.ready(queue))

    def ready(self, queue: Queue) -> list[Position]:
        """Return the messages to transfer, by priority, then by arrival (MS-MQDMPR 3.1.7.3.9).

        Messages sent by HTTP or multicast are not included: they do not travel in such packets (MS-MQQB 3.1.7.12).
        """
        name = self.manager.names.format_name(queue.path)
        if name.kind == "multicast" or name.parts.get("protocol") in ("HTTP", "HTTPS"):
            return []
        return [position for position in queue.positions if position.state is State.AVAILABLE]

    def transfer(self, queue: Queue, positions: list[Position]) -> list[str]:
        """Transfer these messages. A message that no packet can hold is not delivered."""
        packets: list[str] = []
        sequence = Sequence(self.manager)
        room = MOST_TEXT
        for position in positions:
            message = position.message
            try:
                packet = self.packet(queue, message, sequence)
            except MqError:
                self.manager.delivery.remove(position)
                self.manager.delivery.dead_letter(message)
                continue
            room -= len(packet)
            if room < 0 and packets:
                break
            packets.append(packet)
            self.transferred(position)
        return packets

    def transferred(self, position: Position) -> None:
        """Remove a message that the receiver has accepted (MS-MQQB 3.1.5.5).

        The source journal gets a copy; of a transactional message only when its receiver reports the outcome.
        """
        message = position.message
        self.manager.delivery.remove(position)
        if message.fields["positive_journaling"] and not message.transactional:
            self.manager.delivery.copy(self.manager.queues.system("journal"), message)

    def packet(self, queue: Queue, message: Message, sequence: Sequence) -> str:
        """Return the UserMessage packet of a message, in base64. Raises MqError if no packet can hold it."""
        carried = message.carried or {}
        if "packet" in carried:
            return str(carried["packet"])
        said = {name: message.fields[name] for name in _SAME}
        said["destination"] = queue.path
        if "destinations" in carried:
            said["destinations"] = carried["destinations"]
        for name in ("administration_queue", "response_queue"):
            if name in message.fields:
                self._also(said, name, message.fields[name])
        if message.transactional:
            number = sequence.next()
            said["transaction"] = {
                "sequence_identifier": sequence.identifier,
                "sequence_number": number,
                "previous_sequence_number": sequence.previous,
                "index": carried.get("index", 0),
                "first": message.fields["first_in_transaction"],
                "last": message.fields["last_in_transaction"],
            }
        return self.manager.writer.encode(said)

    def _also(self, said: dict[str, Json], name: str, text: str) -> None:
        """Say an administration or response queue, or several; a packet has no word for one that nobody can send to."""
        names = self.manager.names
        if "," in text:
            elements = names.multiple(text).parts["elements"]
            said.setdefault("destinations", [said["destination"]])
            said[f"{name}s"] = elements
            text = elements[0]
        parsed = names.format_name(text)
        if parsed.kind in ("direct", "public", "private") and not parsed.read_only:
            said[name] = text


class Sequence:
    """A sequence of transactional messages to one computer (MS-MQQB 3.1.7.1.3).

    Its messages are numbered from 1, and each names the number before its own. It ends when all of them are
    acknowledged (MS-MQQB 3.1.5.6), so every transfer begins another, with a greater identifier than all before.
    """

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._number = 0
        self.previous = 0
        self.identifier: dict[str, int] = {}

    def next(self) -> int:
        """Return the number of the next message."""
        if not self._number:
            ordinal = self._manager.next_sequence() & 0xFFFFFFFF
            self.identifier = {"ordinal": ordinal, "timestamp": self._manager.clock.now_ms() // 1000}
        self.previous = self._number
        self._number += 1
        return self._number
