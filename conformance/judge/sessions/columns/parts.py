"""Judge some of a capture's connections as if all of them were judged in their order: what must not be told apart.

Most state of the rules belongs to a connection, to two hosts or to a queue manager. Connections that share none of
these may be judged apart. What crosses them nevertheless is noted here, so that the caller can see to it:

====================================  ==================================================================
What                                  Key, and what is done about it
====================================  ==================================================================
opening, counts, windows              the connection
pings, paths, order acknowledgments   two hosts, and one of them
identifiers, times, sequences,        the queue manager that made the message: two hosts with one are one
transactions, origins, clocks         group
messages and transactions remembered  the number of the packet (`context.MAX_REMEMBERED`): whoever judges it
suspicions                            the time of the next packet of any connection: `SessionJudge.pass_time`; one that
                                      is withdrawn waits for those before it: it must be the only one
undecided "anywhere" or of datagrams  once a capture: `first`, of which the earliest in all parts is told
a search among all messages           `looked`: its result needs all connections
a suspicion that assumes a reading    `assumed`: the packet that tells it shows its sender's reading
tables with a bound                   `sizes`: nothing is forgotten as long as all parts together fit
====================================  ==================================================================

The connections of a server share its host and its queue manager. They may be judged apart by their other hosts, if the
parts overhear each other (`overheard`). Of a queue manager that several parts meet, `crossing`, that covers:

====================================  ==================================================================
pings, names of hosts, origins        pings and the openings of connections, with their ends and losses; of usual
                                      openings what they change, `Greeted` and `Left`
times                                 each message that is younger than all before it; none may be impossible
identifiers                           nothing: a message must not come in two parts, nor one be asked for in vain that
                                      another part may remember, but for the one before a sequence, `Recalled`
sequences                             the packets that refute a scope of them, `Refuted`: parts say which theirs are,
                                      and are judged anew if others did not know (`refutations`)
transactions                          nothing: a transaction must not come in two parts; at the end parts must agree
                                      whether the queue manager marks any, and whether in several queues
====================================  ==================================================================
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final

from conformance.capture import Event
from conformance.judge.sessions.columns.judge import ColumnSessions
from conformance.judge.sessions.context import MAX_HOSTS, MAX_REMEMBERED, Assumed, Notes, Path, Readings, Seen
from conformance.judge.sessions.groups import WHOLE
from conformance.judge.sessions.judge import SessionJudge, Tables
from conformance.judge.sessions.messages import Known
from conformance.judge.sessions.opening import NULL_GUID
from conformance.judge.sessions.overheard import Greeted, Left, Overhearing, Recalled, Refuted
from conformance.judge.sessions.remembered import together
from conformance.judge.sessions.sequences import MAX_CURRENT, READING_SCOPE, Sequences
from conformance.judge.sessions.words import guid_words
from conformance.verdict import Json, Verdict

_MOST: Final[Mapping[str, int]] = {
    "smallest": MAX_HOSTS, "last": MAX_HOSTS, "doubted": MAX_HOSTS, "views": 1_024, "passes": MAX_HOSTS,
    "paths": MAX_HOSTS, "requests": MAX_HOSTS, "latest": MAX_HOSTS, "cookies": MAX_HOSTS, "managers": MAX_HOSTS,
    "named": MAX_HOSTS, "hosts": MAX_HOSTS, "blamed": MAX_HOSTS, "clocks": MAX_HOSTS, "said": MAX_REMEMBERED,
    "unmarked": 1_024, "unended": 1_024, "within": 1_024, "spread": 1_024, "misnamed": 1_024, "suspicions": 4_096,
}  # fmt: skip
"""The most entries of each table, as the rules have them."""
_OVERHEARD: Final = frozenset({"requests", "latest", "cookies", "managers"})
"""Tables that hold the same in each part, where parts overhear each other."""
_MOST_ASKED = 1 << 16
_GUIDS = ("ClientGuid", "ServerGuid")
_ESTABLISH, _PINGED = "EstablishConnectionHeader", "Ping.QMGuid"


class Entering(OrderedDict[Any, Any]):
    """A table that counts the keys that ever entered it."""

    entered = 0

    def __setitem__(self, key: Any, value: Any) -> None:
        self.entered += key not in self
        super().__setitem__(key, value)


@dataclass(slots=True)
class PartNotes(Notes):
    """Notes of some connections.

    first: what was undecided by `Notes.once`, the first of each requirement.
    assumed: a suspicion assumes a reading. withdrawn: one did not stand while packets still came.
    """

    first: dict[str, Verdict] = field(default_factory=dict)
    assumed: bool = False
    withdrawn: bool = False

    def resolve(self, now_ns: int | None) -> None:
        """See `Notes.resolve`."""
        if now_ns is not None and not self.withdrawn:
            self.withdrawn = not all(one.stands for one in self.suspicions)
        Notes.resolve(self, now_ns)

    def suspect(
        self, requirement: str, seen: Seen, expected: Json, actual: Json, paths: tuple[Path, ...],
        readings: Assumed = (),
    ) -> None:  # fmt: skip
        """See `Notes.suspect`."""
        self.assumed = self.assumed or bool(readings)
        Notes.suspect(self, requirement, seen, expected, actual, paths, readings)

    def undecided(self, requirement: str, seen: Seen, reason: str, *, anywhere: bool = False) -> None:
        """See `Notes.undecided`."""
        count = len(self.verdicts)
        Notes.undecided(self, requirement, seen, reason, anywhere=anywhere)
        if self.once(seen, anywhere=anywhere) and len(self.verdicts) > count:
            said = self.verdicts[-1]
            assert isinstance(said, Verdict)
            self.first[requirement] = said


class Nameless(IntEnum):
    """How a part has met a maker: never, by asking for its messages in vain, or by something that it has made."""

    NEVER = 0
    ASKED = 1
    MADE = 2


@dataclass(slots=True)
class Marks:
    """What a part has touched. names: queue managers that it met or asked for. sizes: entries of its tables.

    unsure: why its verdicts may need other parts; none if they do not. nameless: how it has met the null GUID as the
    maker of messages or pings, which is the same maker for all.

    Of the queue managers that several parts meet, apart: those that send messages in sequences here. asked: messages
    that were asked for in vain. refuted: by queue manager and scope, the first packet here that refutes it. queues: how
    many sequences are current. marking, spread: those that mark transactions, and those with one in several queues.
    waiting: those with a transaction whose first or last message is missed at the end.
    """

    names: frozenset[str] = frozenset()
    sizes: Mapping[str, int] = field(default_factory=dict)
    unsure: tuple[str, ...] = ()
    nameless: Nameless = Nameless.NEVER
    apart: frozenset[str] = frozenset()
    asked: frozenset[tuple[str, int]] = frozenset()
    refuted: Mapping[tuple[str, str], int] = field(default_factory=dict)
    queues: Mapping[str, int] = field(default_factory=dict)
    marking: frozenset[str] = frozenset()
    spread: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()


class Asked(OrderedDict[Any, Any]):
    """A table that keeps the keys it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[Any] = set()

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of a key."""
        self.asked.add(key)
        return super().get(key, default)


class PartSessions:
    """The rules of some connections. columns: their judge, which was just made.

    crossing: queue managers that other parts meet, too; then the parts overhear each other.
    """

    def __init__(self, columns: ColumnSessions, readings: Readings, crossing: frozenset[str] = frozenset()) -> None:
        self.columns = columns
        self.notes = PartNotes(readings, kinds=[])
        columns.sessions.replace_notes(self.notes)
        self.missed: set[str] = set()
        self.asked: set[tuple[str, int]] = set()
        self.refuted: dict[tuple[str, str], int] = {}
        self.given: set[tuple[str, str]] = set()
        columns.messages.missing = self._recalled
        made: Any = columns.tables.transactions
        self.sent: Any = made.sent
        self.sent.missing = self._unsent
        columns.sources.watch = self._watch
        self.named: set[str] = set()
        tables = columns.tables
        groups, pings = tables.transactions.groups, tables.pings
        for name in ("unmarked", "unended", "within", "spread", "misnamed"):
            setattr(groups, name, Entering())
        pings.watch(Entering())
        tables.lifetimes.doubted = Entering()
        self.crossing = crossing
        self.others = Overhearing.by(tables, readings)
        self.hosts = tables.origins.hosts = Asked()

    def _recalled(self, key: tuple[str, int]) -> Known | None:
        if key[0] not in self.crossing:
            if len(self.missed) <= _MOST_ASKED:
                self.missed.add(key[0])
            return None
        found = self.others.recalled.get(key)
        if found is not None and found.frame > self.columns.sessions.reached - MAX_REMEMBERED:
            return found
        if len(self.asked) <= _MOST_ASKED:
            self.asked.add(key)
        return None

    def _unsent(self, key: tuple[str, int]) -> None:
        if key not in self.columns.messages and self._recalled(key) is not None:
            self.others.unsure = True  # Any message that is sent is first remembered, and only that is told here.

    def _watch(self, source: str, views: Sequence[Sequences]) -> None:
        if source in self.crossing:
            for view in views:
                if view.failed and (source, view.scope) not in self.given:
                    self.refuted.setdefault((source, view.scope), self.columns.sessions.reached)

    def hear(self, event: Event | Greeted | Left | Recalled | Refuted) -> None:
        """Take notice of what others judge."""
        if isinstance(event, Recalled):
            self.others.recall(event)
        elif isinstance(event, Refuted):
            self.given |= {(event.source, scope) for scope in event.scopes}
            self.columns.tables.transactions.refute(event.source, event.scopes)
            self.columns.sources.tell(event.source)
        else:
            self.others.hear(event)

    def see(self, seen: Seen) -> None:
        """Note the queue managers that a packet other than a message names."""
        keys = (_PINGED,) if seen.connection is None else tuple(f"{_ESTABLISH}.{name}" for name in _GUIDS)
        self.named.update(name for name in map(seen.text, keys) if name is not None)

    def marks(self, reached: int) -> Marks:
        """Return what was touched so far. To be called before the state is converted.

        reached: the number of the last packet of the capture.
        """
        tables: Any = self.columns.tables
        made, pings, times = tables.transactions, tables.pings, tables.lifetimes
        sizes = {
            "smallest": len(times.smallest), "last": len(times.last), "doubted": times.doubted.entered,
            "views": len(made.views), "passes": len(made.resends.passes), "paths": len(made.paths),
            "hosts": len(tables.origins.hosts), "blamed": len(tables.origins.doubted),
            "clocks": len(tables.clocks.last), "said": self.notes.said, "suspicions": self.notes.suspected,
            "withdrawn": int(self.notes.withdrawn), **pings.sizes,
            **{
                name: getattr(made.groups, name).entered
                for name in ("unmarked", "unended", "within", "spread", "misnamed")
            },
        }  # fmt: skip
        views, makers = ({source for source, _ in table.items()} for table in (made.views, times.smallest))
        makers |= views
        names = {*self.missed, *self.named, *makers}
        if not self.crossing:  # What is overheard comes into these as well.
            makers |= {*pings.managers}
            names |= {*makers, *tables.origins.hosts, *(manager for manager, _ in tables.clocks.last)}
        unsure = []
        if self.columns.messages.looked or self.sent.looked:
            unsure.append("a packet that names no known message was compared with all of them")
        if self.notes.assumed:
            unsure.append("a suspicion assumes a reading")
        if self.others.unsure:
            unsure.append("what was overheard does not tell enough")
        if self.crossing & self.hosts.asked or len(self.asked) > _MOST_ASKED:
            unsure.append("a queue manager that others meet was asked for in vain")
        if len(self.missed) > _MOST_ASKED:
            unsure.append("more queue managers were asked for in vain than are counted")
        asked = Nameless.ASKED if NULL_GUID in self.missed else Nameless.NEVER
        nameless = Nameless.MADE if NULL_GUID in makers else asked
        marks = Marks(frozenset(names - {NULL_GUID}), sizes, tuple(unsure), nameless)
        if self.crossing:
            self._of_crossing(marks, reached)
        return marks

    def _of_crossing(self, marks: Marks, reached: int) -> None:
        """Add what is known of the queue managers that several parts meet."""
        made: Any = self.columns.tables.transactions
        groups = made.groups
        queues = {
            source: max(len(view.current) for view in views)
            for source, views in made.views.items() if source in self.crossing
        }  # fmt: skip
        given = {source for source, _ in self.given}
        marks.apart = frozenset(source for source, count in queues.items() if count or source not in given)
        marks.asked, marks.refuted, marks.queues = frozenset(self.asked), dict(self.refuted), queues
        oldest = reached - MAX_REMEMBERED
        words = {
            key[:2] for key, group in groups.groups.items() if key[2] & WHOLE and group.ended and group.frame > oldest
        }
        marks.marking = frozenset(name for name in self.crossing if guid_words(name) in words)
        marks.spread = self.crossing & frozenset(groups.spread)
        seen = [one.seen for one in (*groups.unmarked.values(), *groups.within.values(), *groups.unended.values())]
        marks.waiting = self.crossing & {one.text("UserHeader.SourceQueueManager") for one in seen}


def why_not(parts: Iterable[Marks], *, ordered: bool, crossing: frozenset[str] = frozenset()) -> str | None:
    """Return why the verdicts of parts may differ from those on the whole; None if they cannot.

    ordered: the times of all packets follow one another. crossing: as for `PartSessions`.
    """
    found = list(parts)
    for one in found:
        if one.unsure:
            return one.unsure[0]
    for name, most in _MOST.items():
        sizes = [one.sizes.get(name, 0) for one in found]
        if (max(sizes, default=0) if crossing and name in _OVERHEARD else sum(sizes)) >= most:
            return f"a table of the rules is full ({name})"
    if not ordered and any(one.sizes.get("suspicions") for one in found):
        return "times go back while something is suspected"
    if sum(one.sizes.get("suspicions", 0) for one in found) > 1 and any(one.sizes.get("withdrawn") for one in found):
        return "one of several suspicions is withdrawn"
    nameless = [one.nameless for one in found if one.nameless is not Nameless.NEVER]
    if len(nameless) > 1 and Nameless.MADE in nameless:
        return "messages that name no queue manager belong to several groups"
    seen: set[str] = set()
    for one in found:
        names = one.names - crossing
        if not seen.isdisjoint(names):
            return "a queue manager belongs to several groups"
        seen |= names
    return _crossing(found, crossing)


def _crossing(found: Sequence[Marks], crossing: frozenset[str]) -> str | None:
    """Return why the queue managers that several parts meet may need to be judged as one."""
    queues: Counter[str] = Counter()
    for one in found:
        queues.update(one.queues)
        for name in one.waiting:
            others = [other for other in found if other is not one]
            for its, theirs in ((one.marking, "marking"), (one.spread, "spread")):
                if name not in its and any(name in getattr(other, theirs) for other in others):
                    return "a mark of a transaction is missed whose queue manager sends to several parts"
    if any(count >= MAX_CURRENT for name, count in queues.items() if name in crossing):
        return "a table of the rules is full (current)"
    return None


def refutations(parts: Iterable[Marks]) -> dict[tuple[str, str], int]:
    """Return by queue manager and scope the packets that all parts must know, since they refute the scope."""
    found = list(parts)
    out: dict[tuple[str, str], int] = {}
    count = Counter(name for one in found for name in one.apart)
    for one in found:
        for key, number in one.refuted.items():
            if count[key[0]] > 1:
                out[key] = min(number, out.get(key, number))
    return out


_HOSTS: Final[Mapping[str, Callable[[Any, Any], tuple[str, ...]]]] = {
    "origins.hosts": lambda _, host: (host,), "clocks.last": lambda key, _: (key[1],),
    "pings._requests": lambda key, _: (key[0].address, key[1]), "pings._latest": lambda key, _: key,
    "pings._managers": lambda key, _: (key,), "pings._named": lambda key, _: (key,),
}  # fmt: skip
"""The hosts that an entry is about, by table, of which other parts may have overheard too little."""


def joined(
    judges: Mapping[int, SessionJudge], readings: Readings, reached: int, of_host: Mapping[str, int]
) -> SessionJudge:
    """Return a judge that goes on where those of all parts have come to. They must not be used any more.

    judges: by part. of_host: the part that judges the connections of a host, for all hosts but a server. reached: the
    number of the last packet of the capture. Tables without numbers of packets come part by part: which
    entry is forgotten first, once one of them is full, is another one's than in the order of the capture.
    """
    found = list(judges.values())
    made = SessionJudge(readings, counting=True)
    made.reached = reached
    made.join([one.open_notes for one in found])
    tables, parts = made.tables, [one.tables for one in found]
    assert made.tables.transactions.scopes == tuple(readings[READING_SCOPE])
    for part in parts:
        tables.sessions.update(part.sessions)
    for path, by_frame in (
        ("messages.known", True), ("lifetimes.smallest", False), ("lifetimes.last", False),
        ("lifetimes.doubted", False), ("transactions.views", False), ("transactions.sent", True),
        ("transactions.paths", False), ("transactions.resends.passes", False), ("transactions.groups.groups", True),
        ("transactions.groups.unmarked", False), ("transactions.groups.unended", False),
        ("transactions.groups.within", False), ("transactions.groups.spread", False),
        ("transactions.groups.misnamed", False), ("origins.hosts", False), ("origins.doubted", False),
        ("clocks.last", False), ("pings._requests", False), ("pings._latest", False), ("pings._cookies", False),
        ("pings._managers", False), ("pings._named", False),
    ):  # fmt: skip
        unopened = together(_at(part, path) for part in parts) if by_frame else None
        if unopened is not None:
            owner, _, name = path.rpartition(".")
            setattr(_at(tables, owner), name, unopened)
            continue
        into = _at(tables, path)
        items = [item for part in parts for item in _at(part, path).items()]
        if path in _HOSTS:
            known = dict(_own(zip(judges, parts, strict=True), path, of_host))
            items = [(key, known[key]) for key, _ in items if key in known]
        if by_frame:
            items.sort(key=lambda item: item[1].frame)
        for key, value in items:
            before = into.pop(key, None)
            into[key] = value
            if before is not None and path == "transactions.views":
                _together(before, value)
    return made


def _own(parts: Iterable[tuple[int, Tables]], path: str, of_host: Mapping[str, int]) -> Iterator[tuple[Any, Any]]:
    """Yield the entries of a table that are about hosts whose connections its part judges, or about a server."""
    for part, tables in parts:
        for key, value in _at(tables, path).items():
            if all(of_host.get(host, part) == part for host in _HOSTS[path](key, value)):
                yield key, value


def _together(views: Iterable[Sequences], into: Sequence[Sequences]) -> None:
    """Add the sequences of a queue manager in one part to those in another one."""
    for view in views:
        its = next(one for one in into if one.scope == view.scope)
        its.current.update(view.current)
        its.failed = its.failed or view.failed


def _at(tables: Any, path: str) -> Any:
    for name in path.split("."):
        tables = getattr(tables, name)
    return tables
