"""Outgoing queues: on hold or not, and what is transferred out of them (MS-MQDMPR 3.1.1.3, 3.1.7.2.3, 3.1.7.2.4).

No network is here. Whoever asks for the packets is the other side of every session there could be (MS-MQQB 3.1.7.1):
what it is given has been transferred and acknowledged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import Message, MqError, Position, Queue, State

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
MOST_TEXT = 7_000_000  # characters of base64 in one answer, which is one line of at most 8 MiB
_SAME = (  # members of a message that a packet says in the same words
    *("label", "body", "body_type", "priority", "delivery", "class", "application_tag", "correlation_identifier"),
    *("positive_journaling", "negative_journaling", "acknowledgements", "time_to_reach_queue", "time_to_be_received"),
    *("trace", "extension", "identifier", "sent_time"),
)


class Outgoing:
    """Holds outgoing queues and transfers their messages."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    def pause(self, format_name: str) -> None:
        """Pause Queue (3.1.4.14). Raises MqError for what is no outgoing queue."""
        self.hold(self.manager.queues.outgoing(format_name))

    def resume(self, format_name: str) -> None:
        """Resume Queue (3.1.4.15). Raises MqError for what is no outgoing queue."""
        self.let_go(self.manager.queues.outgoing(format_name))

    def hold(self, queue: Queue) -> None:
        """Pause Queue (3.1.7.2.3). This does not outlive the process: 3.1.1.3 does not call the state persistent."""
        queue.paused = True

    def let_go(self, queue: Queue) -> None:
        """Resume Queue (3.1.7.2.4)."""
        queue.paused = False

    def on_hold(self, queue: Queue) -> bool:
        """Whether nothing may leave the queue."""
        return queue.paused

    def take(self, format_name: str) -> list[str]:
        """Transfer the messages of an outgoing queue: their packets in base64, in order; none while it is on hold.

        As many as fit into an answer; the rest stays for the next time. Raises MqError for what is no outgoing queue.
        """
        queue = self.manager.queues.outgoing(format_name)
        if self.on_hold(queue):
            return []
        return self.transfer(queue, self.ready(queue))

    def ready(self, queue: Queue) -> list[Position]:
        """What can be transferred, in order: by priority, then by arrival (MS-MQDMPR 3.1.7.3.9).

        What goes by HTTP or multicast is transferred otherwise, and not in such packets (MS-MQQB 3.1.7.12).
        """
        name = self.manager.names.format_name(queue.path)
        if name.kind == "multicast" or name.parts.get("protocol") in ("HTTP", "HTTPS"):
            return []
        return [position for position in queue.positions if position.state is State.AVAILABLE]

    def transfer(self, queue: Queue, positions: list[Position]) -> list[str]:
        """Transfer these messages. One that no packet can hold is not delivered."""
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
        """A message has been taken over by the other side (MS-MQQB 3.1.5.5): it is here no more.

        The source journal gets a copy, of a transactional one only when its receiver says what became of it there.
        """
        message = position.message
        self.manager.delivery.remove(position)
        if message.fields["positive_journaling"] and not message.transactional:
            self.manager.delivery.copy(self.manager.queues.system("journal"), message)

    def packet(self, queue: Queue, message: Message, sequence: Sequence) -> str:
        """The UserMessage packet of a message, in base64. Raises MqError for what no packet can say."""
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
                "previous_sequence_number": number - 1,
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
    """A sequence of transactional messages to one computer (MS-MQQB 3.1.7.1.3): numbered from 1, each naming the last.

    It ends when all of it is acknowledged (MS-MQQB 3.1.5.6), so every transfer begins another, greater than all before.
    """

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._number = 0
        self.identifier: dict[str, int] = {}

    def next(self) -> int:
        """The number of the next message."""
        if not self._number:
            ordinal = self._manager.next_sequence() & 0xFFFFFFFF
            self.identifier = {"ordinal": ordinal, "timestamp": self._manager.clock.now_ms() // 1000}
        self._number += 1
        return self._number
