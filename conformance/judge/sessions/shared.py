"""The rules whose state crosses connections: openings, pings, identifiers, sequences, transactions and so on.

They judge after the rules that need only a connection (`connection`), of whose state they know what `Counted` holds.
The functions here say in which order they judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.capture import Closed, Side
from conformance.judge.sessions.connection import Counted
from conformance.judge.sessions.context import MESSAGES, Notes, Seen
from conformance.judge.sessions.keys import FREQUENT
from conformance.judge.sessions.opening import NULL_GUID, Opening
from conformance.judge.sessions.origins import judge_order_queue
from conformance.judge.sessions.packets import judge_alone

if TYPE_CHECKING:
    from conformance.judge.sessions.judge import Tables

_OTHER: dict[Side, Side] = {"initiator": "acceptor", "acceptor": "initiator"}


def judge_datagram(seen: Seen, tables: Tables, notes: Notes) -> None:
    """Judge a packet of no connection."""
    if seen.trouble is None:
        judge_alone(seen, notes)
        tables.pings.see(seen, notes)


def judge_place(seen: Seen, opening: Opening, tables: Tables, notes: Notes) -> None:
    """Judge a packet before the rules of its connection do: its place in the opening."""
    assert seen.side is not None
    if seen.gap_before:
        lose_path(opening, seen.side, tables)
    judge_opening(seen, opening, tables, notes)
    if seen.trouble is not None:
        lose_path(opening, seen.side, tables)


def judge_opening(seen: Seen, opening: Opening, tables: Tables, notes: Notes) -> None:
    """Judge a packet's place in the opening of its connection, and take over what it says of its sender."""
    if seen.gap_before:
        opening.lose()
    if seen.trouble is not None or seen.kind not in FREQUENT or not opening.settled:
        opening.see(seen, notes, tables.pings)
        if seen.kind == "EstablishConnection":
            _named(seen, opening, tables, notes)
    if seen.trouble is not None:
        opening.lose()


def judge_message(seen: Seen, opening: Opening, tables: Tables, notes: Notes, counted: Counted) -> None:
    """Judge a packet that was intelligible after the rules of its connection did."""
    if counted.miscounted:
        opening.miscounted(seen)
    if seen.kind not in MESSAGES:
        return
    side = seen.side
    assert side is not None
    tables.forget(seen.frame_number)
    if opening.doubted is not None and side == "acceptor":
        opening.decide(seen, notes, tables.pings)
    source = seen.text("UserHeader.SourceQueueManager")
    number, back = seen.number("UserHeader.MessageID"), tables.transactions.back
    new = tables.messages.see(seen, notes, source, number, back)
    manager = opening.manager(side)
    # A router only passes messages on (MS-MQQB 3.1.1.5).
    original = source == manager if manager is not None else seen.number("UserHeader.Flags.RC") == 0
    if source is not None:
        if manager is not None and manager != NULL_GUID:
            tables.origins.see(seen, notes, source, manager, tables.lifetimes.smallest)
            if seen.kind != "UserMessage" and source == manager:
                other = opening.manager(_OTHER[side])
                direct = tables.transactions.acknowledges(seen, other)
                judge_order_queue(seen, notes, manager, other, direct=direct)
        tables.lifetimes.see(seen, notes, source, new=new, original=original)
    known = tables.messages.known
    tables.transactions.see(seen, notes, known, new=new, original=original, idle=counted.idle)


def lose_path(opening: Opening, side: Side, tables: Tables) -> None:
    """Record that something from this side of a connection to the other is missing, or was unintelligible."""
    ends = (opening.opened.initiator.address, opening.opened.acceptor.address)
    tables.transactions.lose(ends if side == "initiator" else (ends[1], ends[0]))


def lost(opening: Opening, side: Side, tables: Tables) -> None:
    """Record that something of one side of a connection is missing from the capture."""
    opening.lose()
    lose_path(opening, side, tables)


def closed(event: Closed, opening: Opening, tables: Tables, notes: Notes) -> None:
    """Judge the end of a connection."""
    opening.end(event, notes)
    tables.pings.forget(opening.opened.initiator.address, opening.client)
    tables.pings.forget(opening.opened.acceptor.address, opening.server)


def ended(reached: int, tables: Tables, notes: Notes) -> None:
    """Judge the end of the capture. reached: the number of its last packet."""
    notes.resolve(None)
    tables.forget(reached)
    tables.transactions.end(notes)


def _named(seen: Seen, opening: Opening, tables: Tables, notes: Notes) -> None:
    """Take over what an EstablishConnection packet that was in its turn says of its sender."""
    if opening.derailed or seen.side is None:
        return
    if seen.side == "initiator":
        tables.clocks.see(seen, notes, opening.opened)
    manager = opening.manager(seen.side)
    if manager is not None and manager != NULL_GUID:
        tables.origins.name(manager, seen.hosts[0])
        tables.pings.name(seen.hosts[0], manager)
