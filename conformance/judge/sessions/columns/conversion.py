"""The state of `ColumnSessions` as that of a `SessionJudge`, and back: both go on with exactly the same results."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import fields, replace
from typing import Any

from conformance.judge.sessions.columns.judge import ColumnSessions
from conformance.judge.sessions.context import Readings
from conformance.judge.sessions.counts import Acknowledged, Counts, Direction
from conformance.judge.sessions.flow import KEPT, Flow, FlowSide, Timers, UnderWay
from conformance.judge.sessions.judge import Session, SessionJudge, Tables
from conformance.judge.sessions.lifetimes import Lifetimes
from conformance.judge.sessions.messages import Messages
from conformance.judge.sessions.remembered import Unopened
from conformance.judge.sessions.resends import Resends
from conformance.judge.sessions.sequences import Progress, Sequences, TransactionalPath
from conformance.judge.sessions.transactions import Transactions
from conformance.wire.columns.table import ColumnSet

_APART = ("sequences", "under_way")


def plain(columns: ColumnSessions) -> SessionJudge:
    """Return a judge one by one in the state of this one, which must not be used any more."""
    mine, moved = columns.tables, _Plain()
    found: Any = mine.transactions
    transactions: Any = Transactions(found.scopes)
    transactions.sent = Unopened((found.sent.packed(),))
    transactions.paths = OrderedDict((hosts, moved.path(path)) for hosts, path in found.paths.items())
    transactions.groups = replace(found.groups, groups=Unopened((found.groups.groups.packed(),)))
    transactions.resends = Resends(OrderedDict(found.resends.passes))
    transactions.views = OrderedDict((source, [_view(one) for one in views]) for source, views in found.views.items())
    known: Any = Unopened((columns.messages.packed(),))
    times = mine.lifetimes
    smallest, last = OrderedDict(times.smallest.items()), OrderedDict(times.last.items())
    sessions = {number: _session(session) for number, session in mine.sessions.items()}
    same = {one.name: getattr(mine, one.name) for one in fields(Tables)}
    tables = Tables(
        **{
            **same, "messages": Messages(known), "lifetimes": Lifetimes(smallest, last, times.doubted),
            "transactions": transactions, "sessions": sessions,
        }
    )  # fmt: skip
    columns.leave()
    return columns.sessions.moved(tables, moved.path)


def in_columns(judge: SessionJudge, readings: Readings, columns: ColumnSet) -> ColumnSessions:
    """Return a compiled judge in the state of this one, which must not be used any more. columns: as there."""
    made = ColumnSessions(readings, columns)
    its, mine = judge.tables, made.tables
    for one in fields(Tables):
        if one.name not in ("messages", "lifetimes", "transactions", "sessions"):
            setattr(mine, one.name, getattr(its, one.name))
    tables: Any = mine
    if not _taken(its.messages.known, tables.messages.known):
        for key, known in its.messages.known.items():
            tables.messages.known.setdefault(key, known)
    for name in ("smallest", "last"):
        for place, last in getattr(its.lifetimes, name).items():
            getattr(tables.lifetimes, name)[place] = last
    tables.lifetimes.doubted = its.lifetimes.doubted
    found, wanted = tables.transactions, its.transactions
    if not _taken(wanted.sent, found.sent):
        for key, sent in wanted.sent.items():
            found.sent[key] = sent
    if not _taken(wanted.groups.groups, found.groups.groups):
        for words, group in wanted.groups.groups.items():
            found.groups.groups[words] = group
    found.groups = replace(wanted.groups, groups=found.groups.groups)
    found.resends.passes.update(wanted.resends.passes)
    moved = {}
    for hosts, path in wanted.paths.items():
        view = moved[id(path)] = found.paths.setdefault(hosts, path)
        _copy(path, view)
        for number, progress in path.sequences.items():
            view.sequences.setdefault(number, progress)
    for source, views in wanted.views.items():
        currents = [one.current for one in views]
        found.views[source] = [replace(one) for one in views]
        for view, current in zip(found.views.get(source), currents, strict=True):
            for queue, sequence in current.items():
                view.current[queue] = sequence
    made.sessions = judge.moved(mine, lambda path: moved.get(id(path), path))
    for connection, session in its.sessions.items():
        mine.sessions[connection] = _open(made, session)
    made.refresh()
    return made


def _taken(its: Any, mine: Any) -> bool:
    """Take over a table of which no entry was asked for; return False for another one."""
    if not isinstance(its, Unopened) or its.parts is None:
        return False
    mine.take(its.parts, its.forgotten)
    return True


class _Plain:
    """Paths as plain objects, each the same wherever it is met."""

    def __init__(self) -> None:
        self._paths: dict[int, TransactionalPath] = {}
        self._views: list[Any] = []

    def path(self, view: Any) -> TransactionalPath:
        """Return the path of a view."""
        made = self._paths.get(id(view))
        if made is None:
            made = self._paths[id(view)] = TransactionalPath()
            self._views.append(view)
            _copy(view, made)
            for sequence, progress in view.sequences.items():
                _copy(progress, made.sequences.setdefault(sequence, Progress()))
        return made


def _copy(mine: Any, its: Any) -> None:
    """Copy the attributes of one of two objects, of which one is a plain dataclass."""
    kind: Any = next(one for one in (mine, its) if hasattr(one, "__dataclass_fields__"))
    for one in fields(kind):
        if one.name not in _APART:
            setattr(its, one.name, getattr(mine, one.name))


def _view(view: Sequences) -> Sequences:
    return Sequences(view.scope, view.failed, OrderedDict(view.current.items()))


def _session(session: Session) -> Session:
    counts, flow = session.counts, session.flow
    directions, acknowledged = (
        {side: kind(*(getattr(view, one.name) for one in fields(kind))) for side, view in views.items()}
        for kind, views in ((Direction, counts.directions), (Acknowledged, counts.acknowledged))
    )
    made: Any = Counts(counts.complete, directions, acknowledged)  # type: ignore[arg-type]
    timers, sides = Timers(), {side: FlowSide() for side in flow.sides}
    _copy(flow.timers, timers)
    for side, view in flow.sides.items():
        its: Any = view.under_way
        _copy(view, sides[side])
        sides[side].under_way = UnderWay(deque(its.messages(), maxlen=KEPT) or None)
    return Session(session.opening, made, Flow(made, timers, sides))


def _open(columns: ColumnSessions, session: Session) -> Session:
    made = columns.open(session.opening.opened, session.opening)
    _copy(session.flow.timers, made.flow.timers)
    for side, flow in session.flow.sides.items():
        _copy(session.counts.directions[side], made.counts.directions[side])
        _copy(session.counts.acknowledged[side], made.counts.acknowledged[side])
        _copy(flow, made.flow.sides[side])
        for time_ns, recoverable in flow.under_way.messages():
            made.flow.sides[side].under_way.add(time_ns, recoverable=recoverable)
    return made
