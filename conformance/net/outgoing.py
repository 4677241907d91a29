"""What may be sent to a host: how fast, how much, and which packets.

Loopback takes anything that was asked for. A host elsewhere takes whole packets that decode, to queues named
`mqconform-*` alone, with labels that say so and with times after which nothing is left behind.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from conformance.net.addresses import Permit, Target
from conformance.net.packets import Packets
from conformance.wire import Packet, dissect

Sort = Literal["correct", "odd", "malformed"]
"""What a run may send: what a queue manager sends; also reserved bits that are set, packets out of turn, and numbers
and times that no queue manager sends; also what breaks the layout."""
SORTS: Final[tuple[Sort, ...]] = get_args(Sort)
PREFIX: Final = "mqconform-"
"""The names of queues that a run may touch begin with this."""
ORDER_QUEUE: Final = "order_queue$"
ACK_LABEL: Final = "QM Ordering Ack"
"""The label of each OrderAck and FinalAck (MS-MQQB 2.2.4, 2.2.5)."""
MAX_MESSAGE_S: Final = 60
"""Seconds of the longest time a message may have to be received in."""
MAX_BYTES: Final = 64 << 10
PER_SECOND: Final = 20
_LABEL = "mqconform"


def may_send(sort: Sort, target: Target, permit: Permit) -> str | None:
    """Return why packets of this sort must not be sent to a host; None if they may."""
    if sort == "malformed" and not target.loopback and not permit.lab:
        return f"malformed packets stay on this machine: {target.word} needs --lab, and must be in one."
    return None


def refusal(data: bytes, target: Target, sort: Sort) -> str | None:
    """Return why these bytes must not be sent to a host, in a few words; None if they may."""
    if target.loopback:
        return None
    if len(data) > MAX_BYTES:
        return f"{len(data):,} bytes, and {target.word} gets at most {MAX_BYTES:,} at once"
    if sort == "malformed":
        return None
    cut = Packets()
    packets = [*cut.feed(data), *cut.settle()]
    if cut.held:
        return f"bytes that are no whole packet, and {target.word} gets no malformed ones"
    for each in packets:
        why = _unfit(dissect(each, transport="tcp"))
        if why is not None:
            return why
    return None


def packets_in(data: bytes) -> int:
    """Return how many packets these bytes hold; what is no whole packet counts as one."""
    cut = Packets()
    return len([*cut.feed(data), *cut.settle()]) + bool(cut.held)


def _unfit(packet: Packet) -> str | None:
    if not packet.whole:
        return f"a packet that does not decode ({packet.trouble[0].says})"
    if packet.kind not in ("UserMessage", "OrderAck", "FinalAck"):
        return None
    name = packet.fields.get("UserHeader.DestinationQueue.DirectFormatName")
    if not isinstance(name, str):
        return "a message to a queue that is not named by a direct format name"
    queue = name.rpartition("\\")[2].lower()
    label = packet.fields.get("MessagePropertiesHeader.Label")
    if packet.kind != "UserMessage":
        if queue != ORDER_QUEUE:
            return f"an acknowledgment to {name}, which is not {ORDER_QUEUE}"
        return None if label == ACK_LABEL else f"an acknowledgment whose label is not {ACK_LABEL}"
    if not queue.startswith(PREFIX):
        return f"a message to {name}, and only queues named {PREFIX}* are touched"
    if not isinstance(label, str) or not label.startswith(_LABEL):
        return f"a message whose label does not begin with {_LABEL}"
    lives = packet.fields.get("UserHeader.TimeToBeReceived")
    if not isinstance(lives, int) or lives > MAX_MESSAGE_S:
        return f"a message that may stay longer than {MAX_MESSAGE_S} s"
    return None


@dataclass(slots=True)
class Pace:
    """Holds sending back to `PER_SECOND` packets in any second. Packets sent at once wait together beforehand."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    _sent: list[float] = field(default_factory=list)

    def wait(self, packets: int = 1) -> None:
        """Return when so many more may be sent."""
        for _ in range(packets):
            self._wait()

    def _wait(self) -> None:
        now = self.clock()
        if len(self._sent) >= PER_SECOND and (left := self._sent[-PER_SECOND] + 1 - now) > 0:
            self.sleep(left)
            now += left
        self._sent = [*self._sent[1 - PER_SECOND :], now]
