"""How an item can be checked and whom it binds: a first guess for a skeleton entry, to be read and corrected by people.

The table follows what can be seen from outside: bytes alone, names alone, calls and what comes of them, or calls in an
environment that the adapter protocol lacks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools.audit.items import Item
from tools.audit.text import Demand

_DEFINITION = ("none", "definition")


@dataclass(frozen=True, slots=True)
class Guess:
    """`checked` of the catalogue and, for `none`, its reason; for `environment`, what is needed."""

    checked: str
    reason: str | None = None
    needs: str | None = None


# The longest matching section decides: how it is checked, and the reason or what is needed.
_PLACES: dict[str, dict[str, tuple[str, str | None]]] = {
    "MQMQ": {
        "": _DEFINITION,
        "1.7": ("call", None),
        "2.1": ("grammar", None),
        "2.2": ("structure", None),
        **{f"2.2.{number}": ("packet", None) for number in (18, 19, 20)},
        **{f"2.2.{number}": ("call", None) for number in (23, 24)},
        **{f"2.2.{number}": ("environment", "nobody") for number in (25, 26, 27)},
        "2.3": ("call", None),
        "2.4": ("call", None),
        "2.5": ("structure", None),
    },
    "MQDMPR": {
        "": _DEFINITION,
        "3.1.1": ("call", None),
        **{f"3.1.1.{number}": ("white-box", None) for number in (17, 18)},
        "3.1.2": ("call", None),
        "3.1.3": ("call", None),
        "3.1.4": ("history", None),
        **{f"3.1.4.{number}": ("call", None) for number in (3, 4, 5)},
        "3.1.6": ("call", None),
        "3.1.7": ("call", None),
        "3.1.7.1.3.1": ("call", None),
        **{f"3.1.7.1.{number}": ("white-box", None) for number in (26, 28, 29, 34)},
        **{f"3.1.7.1.{number}": ("packet", None) for number in (30, 31, 32)},
        **{f"3.1.7.2.{number}": ("history", None) for number in (3, 4, 5, 6)},
        "3.1.7.3.9": ("white-box", None),
        "3.2": ("call", None),
    },
    "MQAC": {
        "": _DEFINITION,
        "1.8": ("call", None),
        "1.9": ("call", None),
        "2": ("call", None),
        "3": ("call", None),
        "6": ("call", None),
    },
    "MQMP": {"": ("structure", None)},
    "MQQB": {
        "": _DEFINITION,
        "2": ("packet", None),
        "3.1": ("session", None),
        "3.1.1.3": ("white-box", None),
        "3.1.3": ("white-box", None),
        "3.1.5.8.3": ("call", None),
    },
    **{
        calls: {"": ("call", None), "2": _DEFINITION, "3.2": ("environment", "peer")}
        for calls in ("MQRR", "MQQP", "MQMR")
    },
}
_KINDS: dict[str, tuple[str, str | None]] = {
    "binding": ("none", "binding"),
    "argument": _DEFINITION,
    "return-value": _DEFINITION,
    "attribute": _DEFINITION,
    "attribute-value": _DEFINITION,
    "product-note": _DEFINITION,
    "class": _DEFINITION,
    "grammar-rule": ("grammar", None),
}
_BOILERPLATE = re.compile(
    r"^(?:This|The .{1,60}) event MUST be generated with the following (?:input )?arguments?"
    r"|MUST (?:perform|follow) (?:the following|these) (?:actions?|guidelines)\b.*:$"
    r"|^When processing this call, the server MUST follow these guidelines"
    r"|^(?:When|In).{0,40} server MUST (?:follow|abide)"
)


def guessed(item: Item, demand: Demand | None = None) -> Guess:
    """How `item` (or that demand of it) is likely to be checked."""
    if item.kind == "sentence" and boilerplate(item):
        return Guess("none", "boilerplate")
    if item.kind == "sentence" and demand is not None and demand.level == "may":
        return Guess("none", "permission")
    if item.kind in _KINDS and not (item.kind == "grammar-rule" and _place(item)[0] == "none"):
        return _guess(*_KINDS[item.kind])
    if item.document == "MQAC" and item.kind == "declaration":
        return _guess(*_DEFINITION)
    checked, why = _place(item)
    # A rule for who receives a packet is seen in what it does with one, not in the packet.
    if checked == "packet" and demand is not None and demand.role == "receiver":
        return Guess("call")
    return _guess(checked, why)


def _guess(checked: str, why: str | None) -> Guess:
    return Guess(checked, needs=why) if checked == "environment" else Guess(checked, why)


def boilerplate(item: Item) -> bool:
    """Whether the sentence only says that a list follows."""
    return bool(_BOILERPLATE.search(item.text))


def _place(item: Item) -> tuple[str, str | None]:
    places = _PLACES[item.document]
    parts = item.section.split(".")
    for end in range(len(parts), 0, -1):
        found = places.get(".".join(parts[:end]))
        if found:
            return found
    return places[""]


def role(item: Item, demand: Demand | None) -> str:
    """Whom an entry binds, in the words of the item's document."""
    who = demand.role if demand is not None else "any"
    if item.document in ("MQAC", "MQMP"):
        return {"sender": "client", "receiver": "server"}.get(who, "server" if item.document == "MQAC" else "any")
    if item.document == "MQDMPR":
        return "queue-manager"
    return who
