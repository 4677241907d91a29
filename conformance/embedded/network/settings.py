"""What the network process is told: addresses, timers, queues, deviations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
    deviations: tuple[str, ...] = ()
