"""Choose the alphabet: the letters that a driver offers all calls of."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from conformance.histories.learning.alphabets import ALPHABETS, QUEUE
from conformance.histories.learning.letters import Alphabet, Letter, Part
from conformance.histories.operations.operation import Manner, Offer
from conformance.histories.operations.table import OPERATIONS, given, takes
from conformance.histories.walk import offer_of
from conformance.model import Call

if TYPE_CHECKING:
    from conformance.harness.port import Port


class CannotLearn(Exception):
    """The driver lacks what every word of this alphabet needs. lacking: its method or feature."""

    def __init__(self, what: str, lacking: str) -> None:
        self.lacking = lacking
        super().__init__(f"nothing of {what}s can be learned: the driver does not offer {lacking}")


def letter_names(what: str) -> tuple[str, ...]:
    """Return the names of all letters of an alphabet."""
    return tuple(letter.name for part in ALPHABETS[what] for letter in part.letters)


def choose(what: str, client: Port, without: Collection[str] = ()) -> Alphabet:
    """Return the alphabet of what this driver offers. without: names of letters to leave out. Raises CannotLearn."""
    offer = offer_of(client)
    parts, missing = [], []
    for number, part in enumerate(ALPHABETS[what]):
        fitting, lacking = _fitting(part, offer, client.keeps_state)
        if number == 0 and lacking is not None:
            raise CannotLearn(what, lacking)
        missing += [letter.name for letter in part.letters if letter not in fitting]
        left = tuple(letter for letter in fitting if letter.name not in without)
        if left:
            parts.append((part, left))
    options = frozenset(option for part, _ in parts for option in part.options)
    return Alphabet(
        what,
        tuple(letter for _, letters in parts for letter in letters),
        (*_opening(options), *(call for part, _ in parts for call in part.begins(options))),
        tuple(look for part, _ in parts for look in part.looks),
        options,
        tuple(missing),
    )


def _opening(options: frozenset[str]) -> tuple[Call, ...]:
    return (
        Call(
            "queues.create", queue=QUEUE, transactional="transactional" in options, journaling="journaling" in options
        ),
        Call("queues.open", name="s", queue=QUEUE, access="send"),
        Call("queues.open", name="r", queue=QUEUE, access="receive"),
    )


def _fitting(part: Part, offer: Offer, restarts: bool) -> tuple[tuple[Letter, ...], str | None]:
    """Return the letters of a part that the driver offers, and what the part itself lacks, if anything."""
    options = frozenset(part.options)
    for call in (*_opening(options), *part.begins(options), *part.letters[0].needs):
        lacking = _lacking(call, offer, restarts)
        if lacking is not None:
            return (), lacking
    return tuple(
        letter for letter in part.letters if all(_lacking(call, offer, restarts) is None for call in letter.needs)
    ), None


def _lacking(call: Call, offer: Offer, restarts: bool) -> str | None:
    """Return what of a call the driver does not offer, in a few words."""
    operation = OPERATIONS[call.method]
    if operation.manner is Manner.RESTART:
        return None if restarts else "a restart that keeps its state"
    if operation.manner is Manner.TIME:
        return None if offer.virtual else "a virtual clock"
    if not offer.has(*operation.needs):
        return call.method
    if takes(offer, call):
        return None
    refused = next(name for kind, name in given(call) if kind in offer.accepts and name not in offer.accepts[kind])
    return f"{call.method} with {refused}"
