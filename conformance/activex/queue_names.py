"""Names of queues as an MSMQQueueInfo holds them: which queue of this computer one means, if any (MC-MQAC 3.10.6.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Kind(Enum):
    """The meaning of a name. OTHER: something of which the sections of MSMQQueueInfo say nothing."""

    UNNAMED = "no name"
    UNPARSED = "no name that can be parsed"
    NO_COMPUTER = "a path name without computer"
    SEVERAL = "several queues, HTTP or multicast"
    ELSEWHERE = "a private queue of another computer"
    MACHINE = "a system queue of this computer"
    HERE = "a queue of this computer"
    SUBQUEUE = "a subqueue of a queue of this computer"
    OTHER = "something else"


@dataclass(frozen=True, slots=True)
class Target:
    """The queue that a name means. key: of a queue here, its path name behind the computer, in small letters."""

    kind: Kind
    key: str = ""
    public: bool = False


_PATH: Final = re.compile(
    r"(?P<computer>[^\\;,]*)\\(?P<key>(?P<scope>private\$\\)?(?P<name>[^\\;,\"]+))", re.IGNORECASE
)
_SYSTEM: Final = re.compile(r"system\$;(deadletter|deadxact)", re.IGNORECASE)
LONGEST: Final = 124


def by_path(text: str, computer: str) -> Target:
    """Return what a path name means on a computer of that name."""
    whole, _, subqueue = text.partition(";")
    if subqueue:
        target = by_path(whole, computer)
        single = ";" not in subqueue and target.kind is Kind.HERE
        return Target(Kind.SUBQUEUE if single else Kind.OTHER, target.key)
    match = _PATH.fullmatch(text)
    if match is None:
        return Target(Kind.UNPARSED)
    if not match["computer"]:
        return Target(Kind.NO_COMPUTER)
    if len(match["name"]) > LONGEST:
        return Target(Kind.UNPARSED)
    public = match["scope"] is None
    if public and match["computer"].casefold() == "private$":
        return Target(Kind.UNPARSED)
    if match["computer"] != "." and match["computer"].casefold() != computer.casefold():
        return Target(Kind.OTHER if public else Kind.ELSEWHERE)
    return Target(Kind.HERE, match["key"].casefold(), public)


def by_format(text: str, computer: str, known: Mapping[str, str]) -> Target:
    """Return what a format name means. known: format names that were handed out, in small letters, to their keys."""
    small = text.casefold()
    if small in known:
        return Target(Kind.HERE, known[small], small.startswith("public="))
    if "," in text or small.startswith(("direct=http", "multicast=", "dl=")):
        return Target(Kind.SEVERAL)
    if small.startswith("direct=os:"):
        address, _, rest = text[len("direct=os:") :].partition("\\")
        if _SYSTEM.fullmatch(rest):
            return Target(Kind.MACHINE if address == "." or address.casefold() == computer.casefold() else Kind.OTHER)
        return by_path(f"{address}\\{rest}", computer)
    if "=" not in text:
        return Target(Kind.UNPARSED)
    return Target(Kind.OTHER, public=small.startswith("public="))
