"""The state of a queue manager that speaks MS-MQQB in virtual time: its connections, its clock, its defects by name."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import UUID

from conformance.wire import Packet

OWN = "6b1d0f3a-3c1e-4c56-9a8e-0d5b1f2e3c4d"
NULL = str(UUID(int=0))
TIMEOUT = 0xC00E001B
EPOCH_MS = 1_800_000_000_000
RETRY_MS, ORDER_MS, ACK_WAIT_MS = 500, 500, 2000
MOST_ORDER_MS = 10_000  # MaximumOrderAckDelay, MS-MQQB 3.1.3.1
EXPRESS_MS, RESEND_MS, HISTORY_MS = 800, 2000, 4000
CLEANUP_MS, OPENING_MS = 20_000, 5_000
EC, CP, UH, MP, TX, SE = (
    f"{name}."
    for name in (
        "EstablishConnectionHeader", "ConnectionParametersHeader", "UserHeader", "MessagePropertiesHeader",
        "TransactionHeader", "SessionHeader",
    )
)  # fmt: skip
QUEUES = {
    "mqconform-plain": {"consumes": 1000},
    "mqconform-transactional": {"transactional": True, "consumes": 1000},
    "mqconform-journal": {},
    "mqconform-authenticated": {"authenticated": True},
    "mqconform-private": {"private": True},
}

Made = Callable[[dict[str, Any]], bytes | None]
"""Makes a packet with a SessionHeader, which is empty mostly; None for a message whose time is over."""


@dataclass(eq=False)
class Link:
    """A connection. outgoing: this end has made it."""

    name: str
    outgoing: bool = False
    state: str = "waiting-ec"
    inbound: bytes = b""
    outbox: list[tuple[int, bytes]] = field(default_factory=list)
    closed: bool = False
    gone: bool = False
    received: int = 0
    kept: int = 0
    acknowledged: int = 0
    kept_acknowledged: int = 0
    flags: int = 0
    sent: int = 0
    sent_kept: int = 0
    due: int = 0
    times: tuple[int, int] = (500, 20000)
    under_way: list[tuple[Made, bool]] = field(default_factory=list)
    ack_seen: bool = False
    waits: bool = False
    window: int = 64
    begun: int = 0
    active: bool = False
    refused: bool = False
    rejected: bool = False


class State:
    """What both directions share. defects: what is wrong."""

    def __init__(self, state_dir: str = "") -> None:
        self.defects: set[str] = set()
        self.now = 1_000
        self.unread: tuple[str, ...] = ()
        self.events: list[tuple[int, int, Any]] = []
        self.order = count()
        self.links: dict[str, Link] = {}
        self.held: set[str] = set()
        self.knocking: list[Link] = []
        self.waiting: list[tuple[Made, bool]] = []
        self.out: Link | None = None
        self.connecting = self.again = False
        self.history: dict[tuple[str, int], int] = {}
        self.first_links: dict[tuple[str, int], Link] = {}
        self.rejections = 0
        self.outgoing: tuple[int, int, int] = (0, 0, 0)
        self.unordered: list[tuple[tuple[int, int, int], dict[str, Any]]] = []
        self.of_link: Link | None = None
        self.of_source = NULL
        self.direct = self.direct_last = False
        self.sequence = (0, 0)
        self.numbered = 0
        self.places: dict[str, tuple[tuple[int, int], int]] = {}
        self.numbers: dict[tuple[int, int], int] = {}
        self.next_id = 900
        self.order_due, self.order_at, self.last_order = False, 0, -MOST_ORDER_MS
        self.asked: Packet | None = None
        self.agreed: Packet | None = None
        self.pinged = self.refusals = 0

    def has(self, defect: str) -> bool:
        return defect in self.defects

    def at(self, ms: int, do: Any) -> None:
        heapq.heappush(self.events, (self.now + ms, next(self.order), do))

    def run(self, until: int, done: Any) -> None:
        while not done():
            if not self.events or self.events[0][0] > until:
                self.now = until
                return
            when, _, do = heapq.heappop(self.events)
            self.now = max(self.now, when)
            do()

    @property
    def now_s(self) -> int:
        wrong = 10_800 * (self.has("clock-ahead") - self.has("clock-behind"))
        return (EPOCH_MS + self.now) // 1000 + wrong

    def put(self, link: Link, data: bytes) -> None:
        if not link.closed and self.has("slow-line"):
            self.at(100, lambda: link.outbox.append((self.now, data)))
        elif not link.closed:
            link.outbox.append((self.now, data))

    def opens(self, link: Link) -> None:
        """Give up a session that does not open in time."""
        if not self.has("waits-for-answers"):
            self.at(OPENING_MS, lambda: self.close(link) if link.state != "open" else None)

    def opened(self, link: Link) -> None:
        """Begin to look whether a session is idle."""
        link.state = "open"
        self.at(self.cleanup_ms, lambda: self.looked_at(link))

    @property
    def cleanup_ms(self) -> int:
        return 2_000 if self.has("tidies-soon") else CLEANUP_MS

    def looked_at(self, link: Link) -> None:
        idle = not link.active or self.has("takes-active-for-idle")
        if idle and not link.closed:
            self.close(link, "keeps-idle-sessions")
        elif not link.closed:
            link.active = False
            self.at(self.cleanup_ms, lambda: self.looked_at(link))

    def close(self, link: Link, unless: str = "") -> None:
        if not self.has(unless):
            link.closed = True
            self.lost(link)

    def lost(self, link: Link) -> None:
        """Go on after the end of a connection."""
        raise NotImplementedError
