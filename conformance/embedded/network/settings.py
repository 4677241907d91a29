"""Settings of the network process: addresses, queues, deviations, and the timers of MS-MQQB 3.1.2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

PRIVACY = ("none", "optional", "body")
DEFAULT_QUEUES = (
    "mqconform-plain",
    "mqconform-transactional,transactional",
    "mqconform-journal,journal",
    "mqconform-authenticated,authenticate",
    "mqconform-private,privacy=body",
)


@dataclass(frozen=True, slots=True)
class QueueWanted:
    """A private queue to make. name: without `private$\\`. quota_kb: None for no limit. denied: nobody may send."""

    name: str
    transactional: bool = False
    journal: bool = False
    authenticate: bool = False
    privacy: str = "optional"
    quota_kb: int | None = None
    denied: bool = False

    def properties(self) -> dict[str, int]:
        """Return the properties to create it with (MS-MQMQ 2.3.1)."""
        made = {"PROPID_Q_TRANSACTION": int(self.transactional), "PROPID_Q_JOURNAL": int(self.journal)}
        made |= {"PROPID_Q_AUTHENTICATE": int(self.authenticate), "PROPID_Q_PRIV_LEVEL": PRIVACY.index(self.privacy)}
        return made | ({"PROPID_Q_QUOTA": self.quota_kb} if self.quota_kb is not None else {})


def queue_wanted(text: str) -> QueueWanted:
    """Read `NAME[,WORD]...`. Raises ValueError with a sentence."""
    name, *words = text.split(",")
    lower = name.lower()
    name = name[len("private$\\") :] if lower.startswith("private$\\") else name
    if not name or "\\" in name or ";" in name:
        raise ValueError(f"{text!r} does not name a private queue")
    flags: dict[str, bool] = {}
    privacy, quota = "optional", None
    for word in words:
        key, _, value = word.partition("=")
        if word in ("transactional", "journal", "authenticate", "denied"):
            flags[word] = True
        elif key == "privacy" and value in PRIVACY:
            privacy = value
        elif key == "quota" and value.isdigit() and value.isascii() and len(value) < 10:
            quota = int(value)
        else:
            raise ValueError(f"there is no queue word {word!r}")
    return QueueWanted(name, **flags, privacy=privacy, quota_kb=quota)


@dataclass(frozen=True, slots=True)
class Settings:
    """All of it. timers, consumes: seconds by name. replies: queues that answer to the response queue of a message.

    peers: hosts that may be connected to, beside loopback ones and those that have connected themselves.
    rpc: where the RPC planes are, None for nowhere; rpc_mapper: one more port of theirs, for the endpoint mapper.
    rpc_cleanup_s: after which a remote receive that is not ended is undone (MS-MQRR note 11). rpc_account: the user and
    password of who alone may call, with packet privacy; None for anybody.
    """

    host: str
    port: int
    ping_port: int
    peer_port: int | None = None
    timers: Mapping[str, float] = field(default_factory=dict)
    queues: tuple[QueueWanted, ...] = ()
    consumes: Mapping[str, float] = field(default_factory=dict)
    replies: frozenset[str] = frozenset()
    peers: frozenset[str] = frozenset()
    insecure_nacks: bool = False
    ping_first: bool = False
    rpc: tuple[str, int] | None = None
    rpc_mapper: int | None = None
    rpc_cleanup_s: float = 300.0
    rpc_account: tuple[str, str] | None = None
    deviations: tuple[str, ...] = ()


LONGEST = 10.0 * 365 * 24 * 3600
DEFAULTS: Mapping[str, float | None] = MappingProxyType(
    {
        "session-initialization": 60.0,
        "session-cleanup": 300.0,
        "session-retry-connect": 5.0,
        "session-ack-wait": None,  # twice AckWaitTimeout
        "session-ack-send": None,  # half of AckWaitTimeout
        "transactional-ack-wait": None,  # by ResendTimerTable
        "order-ack-send": 0.5,
        "message-id-history-cleanup": 1800.0,
        "ping-response": 1.0,
    }
)
"""Seconds; None where the duration follows from the session."""
RESENDS = (30.0,) * 3 + (300.0,) * 3 + (1800.0,) * 3 + (21600.0,)
"""ResendTimerTable (3.1.3.1), seconds."""
ACK_WAIT_FACTOR = 2


class Handle(Protocol):
    """A call that is to come."""

    def cancel(self) -> None:
        """Prevent the call."""


class Scheduler(Protocol):
    """The clock that timers run on."""

    def time(self) -> float:
        """Return seconds from any beginning; they never go back."""

    def later(self, seconds: float, action: Callable[[], None]) -> Handle:
        """Call `action` in that time."""


@dataclass(slots=True)
class Durations:
    """The settings of timers. given: seconds by name, for those that differ from the default."""

    given: Mapping[str, float] = field(default_factory=dict)

    def fixed(self, name: str) -> float:
        """Return the duration of a timer that does not depend on a session, in seconds."""
        default = DEFAULTS[name]
        assert default is not None
        return self.given.get(name, default)

    def ack_wait(self, ack_timeout_ms: int) -> float:
        """Session Ack Wait Timer (3.1.2.4)."""
        return self.given.get("session-ack-wait", ACK_WAIT_FACTOR * ack_timeout_ms / 1000)

    def ack_send(self, ack_timeout_ms: int) -> float:
        """Session Ack Send Timer, as 3.1.5.8.2 starts it."""
        return self.given.get("session-ack-send", ack_timeout_ms / 2000)

    def recoverable_ack_send(self, timeout_ms: int) -> float:
        """Session Ack Send Timer, as 3.1.5.8.7 starts it."""
        return timeout_ms / 1000

    def resend(self, index: int) -> float:
        """Transactional Ack Wait Timer (3.1.2.6), by ResendIntervalIndex."""
        return self.given.get("transactional-ack-wait", RESENDS[min(index, len(RESENDS) - 1)])


class Timer:
    """One timer, which calls `action` when it expires."""

    def __init__(self, scheduler: Scheduler, action: Callable[[], None]) -> None:
        self._scheduler = scheduler
        self._action = action
        self._handle: Handle | None = None
        self._started = self._duration = 0.0

    @property
    def running(self) -> bool:
        return self._handle is not None

    @property
    def elapsed(self) -> float:
        """The part of its time that has gone, from 0 to 1; 0 if it does not run."""
        if not self.running or not self._duration:
            return 0.0
        return min(1.0, (self._scheduler.time() - self._started) / self._duration)

    def start(self, seconds: float) -> None:
        """Start the timer anew, whether or not it runs."""
        self.stop()
        self._started, self._duration = self._scheduler.time(), seconds
        self._handle = self._scheduler.later(seconds, self._expire)

    def start_if_stopped(self, seconds: float) -> None:
        """Start the timer unless it runs."""
        if not self.running:
            self.start(seconds)

    def stop(self) -> None:
        """Stop the timer."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _expire(self) -> None:
        self._handle = None
        self._action()
