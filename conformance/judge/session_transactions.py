"""Transactional messages and their acknowledgments, between two hosts (MS-MQQB 3.1.1.5, 3.1.1.6.2)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from conformance.judge.session_context import MAX_REMEMBERED, Notes, Seen
from conformance.judge.session_sequences import READING_SCOPE, Hosts, Progress, Sequences, TransactionalPath
from conformance.spec.assignment import either
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Verdict

_SEQUENCE = requirement_id("MQQB-2.2.4.1.sequence")
_IN_ORDER = requirement_id("MQQB-3.1.1.6.2.in-order")
_NEVER_DECREASES = requirement_id("MQQB-3.1.1.6.2.never-decreases")
_FINAL = requirement_id("MQQB-2.2.5.1.sequence")
_READING_SEQUENCE = "R-MQQB-order-ack-sequence"
_LOST = "the acknowledged messages may not be in the capture"


@dataclass(slots=True)
class Transactions:
    """All transactional traffic of a capture. views: one for each accepted scope of a sequence, the followed first."""

    views: list[Sequences]
    _paths: OrderedDict[Hosts, TransactionalPath] = field(default_factory=OrderedDict)

    @classmethod
    def under(cls, notes: Notes) -> Transactions:
        """With the scopes that the accepted readings allow."""
        return cls([Sequences(scope) for scope in notes.accepted(READING_SCOPE)])

    def lose(self, hosts: Hosts) -> None:
        """Something from one host to the other is not in the capture, or was not intelligible."""
        self._path(hosts).generation += 1

    def see(self, seen: Seen, notes: Notes, *, original: bool) -> None:
        """Judge a packet of a connection. original: whether its sender is the queue manager that made the message."""
        hosts = (seen.frame.source.address, seen.frame.destination.address)
        if seen.packet.kind == "OrderAck":
            self._order_ack(seen, notes, hosts)
        elif seen.packet.kind == "FinalAck":
            self._final_ack(seen, notes)
        elif seen.number("TransactionHeader.TxSequenceID") is not None and original:
            self._message(seen, notes, hosts)

    def _message(self, seen: Seen, notes: Notes, hosts: Hosts) -> None:
        path = self._path(hosts)
        told: list[Notes] = []
        for view in self.views:
            told.append(Notes(notes.readings))
            view.see(seen, told[-1], path, self._path((hosts[1], hosts[0])), hosts)
        # Another accepted view takes over when the followed one is refuted and the other is not.
        at = next((at for at, view in enumerate(self.views) if not view.failed), 0)
        alive = [view.scope for view in self.views if not view.failed]
        told[at].verdicts[:] = [_of_any(verdict, alive) for verdict in told[at].verdicts]
        notes.merge(told[at])
        self.views.insert(0, self.views.pop(at))
        sequence, number = (seen.number(f"TransactionHeader.{key}") for key in ("TxSequenceID", "TxSequenceNumber"))
        assert sequence is not None
        progress = path.sequences.setdefault(sequence, Progress())
        progress.highest = max(progress.highest, number or 0)
        path.newest = max(path.newest or 0, sequence)
        _bound(path)

    def _order_ack(self, seen: Seen, notes: Notes, hosts: Hosts) -> None:
        sequence, number = (seen.number(f"OrderAckBody.{key}") for key in ("TxSequenceID", "TxSequenceNumber"))
        if sequence is None or number is None:
            return
        there, back = self._path((hosts[1], hosts[0])), self._path(hosts)
        progress = there.sequences.setdefault(sequence, Progress())
        there.answers = True
        self._acknowledged_sequence(seen, notes, there, back, sequence, progress)
        if progress.highest:
            if number <= progress.highest:
                notes.judge(_IN_ORDER, True, seen, {"at most": progress.highest}, number)
            elif there.generation:
                notes.undecided(_IN_ORDER, seen, _LOST)
            else:
                notes.suspect(_IN_ORDER, seen, {"at most": progress.highest}, number, (there,))
        if progress.acknowledged:
            holds = number >= progress.acknowledged
            notes.judge(_NEVER_DECREASES, holds, seen, {"at least": progress.acknowledged}, number)
        progress.acknowledged = max(progress.acknowledged, number)
        _bound(there)

    def _acknowledged_sequence(
        self,
        seen: Seen,
        notes: Notes,
        there: TransactionalPath,
        back: TransactionalPath,
        sequence: int,
        progress: Progress,
    ) -> None:
        own = back.sequences.get(sequence)
        fits = {"acknowledged": bool(progress.highest), "own-outgoing": own is not None and bool(own.highest)}
        followed = [name for name in notes.accepted(_READING_SEQUENCE) if fits.get(name)]
        if followed:
            notes.judge(_SEQUENCE, True, seen, sequence, sequence, ((_READING_SEQUENCE, either(followed)),))
        elif there.newest is not None and sequence > there.newest and not there.generation:
            readings = ((_READING_SEQUENCE, "acknowledged"),)
            notes.suspect(_SEQUENCE, seen, {"at most": there.newest}, sequence, (there,), readings)
        else:
            notes.undecided(_SEQUENCE, seen, _LOST)

    def _final_ack(self, seen: Seen, notes: Notes) -> None:
        source, message = seen.text("FinalAckBody.SourceGUID"), seen.number("FinalAckBody.MessageID")
        if source is None or message is None:
            return
        sent = self.views[0].message(source, message)
        if sent is None:
            notes.undecided(_FINAL, seen, _LOST)
            return
        expected = {"sequence": sent.sequence, "number": sent.number}
        actual = {
            "sequence": seen.number("FinalAckBody.TxSequenceID"),
            "number": seen.number("FinalAckBody.TxSequenceNumber"),
        }
        notes.same(_FINAL, seen, expected, actual)

    def _path(self, hosts: Hosts) -> TransactionalPath:
        path = self._paths.setdefault(hosts, TransactionalPath())
        while len(self._paths) > MAX_REMEMBERED:
            self._paths.popitem(last=False)
        return path


def _of_any(verdict: Verdict, alive: Sequence[str]) -> Verdict:
    """The verdict with every scope that explains all messages so far, where it names the first of them."""
    readings = tuple(
        (reading, either(alive) if reading == READING_SCOPE and named in alive else named)
        for reading, named in verdict.readings
    )
    return replace(verdict, readings=readings)


def _bound(path: TransactionalPath) -> None:
    while len(path.sequences) > MAX_REMEMBERED:
        path.sequences.popitem(last=False)
