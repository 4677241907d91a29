"""Paths, transactional sequences and queue managers in arrays, in the form in which the rules read and change them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from conformance.judge.sessions.columns import layout as at
from conformance.judge.sessions.columns.layout import NONE
from conformance.judge.sessions.columns.rows import Index, View, detach, flag, optional, register, signed, unsigned
from conformance.judge.sessions.lifetimes import Place
from conformance.judge.sessions.sequences import Hosts, Progress, Sequence, Sequences
from conformance.judge.sessions.words import guid_words, host_words, queue_words


class ProgressView(View):
    """See `sequences.Progress`."""

    highest, acknowledged = register(at.TOP), register(at.DONE)
    accepted, last = optional(at.ACCEPTED), register(at.LATEST)
    generation, first_ns = register(at.PROGRESS_GENERATION), optional(at.PROGRESS_NS)
    unended = register(at.UNENDED)
    accept = Progress.accept


class PathView(View):
    """See `sequences.TransactionalPath`."""

    generation, answers, first_ns = register(at.GENERATION), flag(at.ANSWERS), optional(at.FIRST_NS)
    direct, indirect, named_direct = flag(at.DIRECT), flag(at.INDIRECT), flag(at.NAMED_DIRECT)

    def __init__(self, index: Index, row: int) -> None:
        super().__init__(index.store, row)
        self.newest: int | None = None
        self.sequences = SequencesView(index, self)


class SequencesView:
    """The sequences of a path. The one asked for last is the one that compiled code finds."""

    def __init__(self, index: Index, path: PathView) -> None:
        self._index, self._path = index, path
        self._progress: OrderedDict[int, ProgressView] = OrderedDict()

    def __len__(self) -> int:
        return len(self._progress)

    def items(self) -> Iterator[tuple[int, ProgressView]]:
        """Yield all sequences."""
        yield from self._progress.items()

    def get(self, sequence: int) -> ProgressView | None:
        """Return the progress of a sequence; None if it is unknown."""
        found = self._progress.get(sequence)
        if found is not None:
            row = self._path.store()[self._path.row]
            row[at.SEQUENCE], row[at.PROGRESS] = signed(sequence), found.row
        return found

    def setdefault(self, sequence: int, new: Progress) -> ProgressView:
        """Return the progress of a sequence, which is `new` if it is unknown."""
        found = self.get(sequence)
        if found is None:
            content = (new.highest, new.acknowledged, NONE if new.accepted is None else new.accepted, new.last,
                       new.generation, NONE if new.first_ns is None else new.first_ns, new.unended)  # fmt: skip
            row = self._index.unnamed(at.OF_PROGRESS, content)
            found = self._progress[sequence] = ProgressView(self._index.store, row)
            self._counted()
            self.get(sequence)
        return found

    def popitem(self, *, last: bool) -> None:
        """Forget the first sequence."""
        _, view = self._progress.popitem(last=last)
        if self._path.store()[self._path.row, at.PROGRESS] == view.row:
            self._path.store()[self._path.row, at.PROGRESS] = -1
        self._forget(view)
        self._counted()

    def detach(self) -> None:
        """Give up all rows."""
        for view in self._progress.values():
            self._forget(view)

    def _forget(self, view: ProgressView) -> None:
        row = view.row
        detach(view)
        self._index.remove(row)

    def _counted(self) -> None:
        self._path.store()[self._path.row, at.SEQUENCES] = len(self._progress)


class PathsView:
    """The paths of a capture. forgotten: called with the row of a path that is forgotten."""

    def __init__(self, index: Index, forgotten: Callable[[int], None]) -> None:
        self._index, self._forgotten = index, forgotten
        self._paths: OrderedDict[Hosts, PathView] = OrderedDict()

    def __len__(self) -> int:
        return len(self._paths)

    def items(self) -> Iterator[tuple[Hosts, PathView]]:
        """Yield all paths."""
        yield from self._paths.items()

    def get(self, hosts: Hosts) -> PathView | None:
        """Return the path between two hosts."""
        return self._paths.get(hosts)

    def row(self, hosts: Hosts) -> int:
        """Return the row of a path, -1 for an unknown one."""
        found = self._paths.get(hosts)
        return -1 if found is None else found.row

    def setdefault(self, hosts: Hosts, _new: object) -> PathView:
        """Return the path between two hosts, a new one if it is unknown."""
        found = self._paths.get(hosts)
        if found is None:
            row = self._index.unnamed(at.OF_PATH, (0, 0, 0, NONE, 0, 0, -1, *host_words(hosts), 0, 0))
            found = self._paths[hosts] = PathView(self._index, row)
        return found

    def popitem(self, *, last: bool) -> None:
        """Forget the first path."""
        _, view = self._paths.popitem(last=last)
        row = view.row
        view.sequences.detach()
        detach(view)
        self._index.remove(row)
        self._forgotten(row)


class LastView:
    """The last identifiers, see `Lifetimes.last`."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._rows: OrderedDict[Place, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rows)

    def items(self) -> Iterator[tuple[Place, int]]:
        """Yield all places."""
        for key, row in self._rows.items():
            yield key, int(self._index.rows[row, at.LAST])

    def get(self, key: Place) -> int | None:
        """Return the last identifier of a place."""
        row = self._rows.get(key)
        return None if row is None else int(self._index.rows[row, at.LAST])

    def __setitem__(self, key: Place, number: int) -> None:
        row = self._rows.get(key)
        if row is None:
            connection, source, queue, priority = key
            (s0, s1), (q0, q1) = guid_words(source), queue_words(queue)
            last = at.OF_LAST | (priority or 0) << 3 | (connection or 0) << 8
            row = self._rows[key] = self._index.row((s0 ^ q0, s1 ^ q1, last), ())
        self._index.rows[row, at.LAST] = number

    def popitem(self, *, last: bool) -> None:
        """Forget the first place."""
        _, row = self._rows.popitem(last=last)
        self._index.remove(row)


class Sources:
    """The queue managers of a capture: `Lifetimes.smallest` and `Transactions.views` have a row in common."""

    def __init__(self, index: Index, cursor: Any) -> None:
        self.index, self.cursor = index, cursor
        self.smallest: OrderedDict[str, int] = OrderedDict()
        self.views: dict[str, tuple[int, list[Sequences]]] = {}
        self.watch: Callable[[str, list[Sequences]], None] | None = None
        """Called with the views of a queue manager that has sent a message."""

    def row(self, source: str) -> int:
        """Return the row of a queue manager, a new one if it is unknown."""
        key = (*guid_words(source), at.OF_SOURCE)
        found = self.index.find(key)
        return found if found >= 0 else self.index.row(key, (NONE,))

    def tell(self, source: str) -> None:
        """Tell compiled code about the views of a queue manager."""
        found = self.views.get(source)
        if found is not None:
            row, views = found
            if self.watch is not None:
                self.watch(source, views)
            word = len(views)
            for position, view in enumerate(views):
                word |= (SCOPES.index(view.scope) | view.failed << 2) << (2 + 3 * position)
            self.index.rows[row, at.VIEWS] = word

    def leave(self, source: str, row: int) -> None:
        """Remove a row that is no longer needed."""
        if source not in self.smallest and source not in self.views:
            self.index.remove(row)


SCOPES = ("session", "queue")


class SmallestView:
    """See `Lifetimes.smallest`."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def __len__(self) -> int:
        return len(self._sources.smallest)

    def items(self) -> Iterator[tuple[str, int]]:
        """Yield all queue managers."""
        for source, row in self._sources.smallest.items():
            yield source, int(self._sources.index.rows[row, at.SMALLEST])

    def get(self, source: str) -> int | None:
        """Return the smallest age of a queue manager's messages."""
        row = self._sources.smallest.get(source)
        return None if row is None else int(self._sources.index.rows[row, at.SMALLEST])

    def __setitem__(self, source: str, age: int) -> None:
        row = self._sources.smallest.get(source)
        if row is None:
            row = self._sources.smallest[source] = self._sources.row(source)
        self._sources.index.rows[row, at.SMALLEST] = age

    def popitem(self, *, last: bool) -> None:
        """Forget the first queue manager."""
        source, row = self._sources.smallest.popitem(last=last)
        self._sources.index.rows[row, at.SMALLEST] = NONE
        self._sources.leave(source, row)


class ViewsView:
    """See `Transactions.views`; the one used longest ago is forgotten first."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def __len__(self) -> int:
        return len(self._sources.views)

    def items(self) -> Iterator[tuple[str, list[Sequences]]]:
        """Yield all queue managers, the one used longest ago first."""
        rows = self._sources.index.rows
        for source, (_, views) in sorted(self._sources.views.items(), key=lambda one: int(rows[one[1][0], at.TICK])):
            yield source, views

    def get(self, source: str) -> list[Sequences] | None:
        """Return the views of a queue manager."""
        found = self._sources.views.get(source)
        return None if found is None else found[1]

    def __setitem__(self, source: str, views: list[Sequences]) -> None:
        row = self._sources.row(source)
        for view in views:
            view.current = CurrentView(self._sources.index, source, view.scope)  # type: ignore[assignment]
        self._sources.views[source] = (row, views)
        self.move_to_end(source)

    def move_to_end(self, source: str) -> None:
        """Note that the views are used."""
        self._sources.cursor[at.TICKS] += 1
        self._sources.index.rows[self._sources.views[source][0], at.TICK] = self._sources.cursor[at.TICKS]

    def popitem(self, *, last: bool) -> None:
        """Forget the views used longest ago."""
        assert not last
        rows = self._sources.index.rows
        source = min(self._sources.views, key=lambda one: int(rows[self._sources.views[one][0], at.TICK]))
        row, views = self._sources.views.pop(source)
        rows[row, at.VIEWS] = 0
        for view in views:
            while len(view.current):
                view.current.popitem(last=False)
        self._sources.leave(source, row)


class CurrentView:
    """See `Sequences.current`."""

    def __init__(self, index: Index, source: str, scope: str) -> None:
        self._index, self._source, self._scope = index, source, SCOPES.index(scope)
        self._rows: OrderedDict[tuple[str, ...], int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rows)

    def items(self) -> Iterator[tuple[tuple[str, ...], Sequence]]:
        """Yield all sequences."""
        for key in self._rows:
            found = self.get(key)
            assert found is not None
            yield key, found

    def get(self, key: tuple[str, ...]) -> Sequence | None:
        """Return the current sequence."""
        row = self._rows.get(key)
        if row is None:
            return None
        identifier, highest, connection, generation = self._index.rows[row, at.DATA : at.DATA + 4].tolist()
        return Sequence(unsigned(identifier), highest, connection, generation)

    def __setitem__(self, key: tuple[str, ...], new: Sequence) -> None:
        content = (signed(new.identifier), new.highest, new.connection or 0, new.generation)
        row = self._rows.get(key)
        if row is None:
            (s0, s1), (h0, h1) = guid_words(self._source), host_words((key[0], key[1]))
            q0, q1 = queue_words(key[2]) if len(key) > 2 else (0, 0)
            where = (s0 ^ q0 ^ h0, s1 ^ q1 ^ h1, at.OF_CURRENT | self._scope << 3)
            row = self._rows[key] = self._index.row(where, content)
        self._index.rows[row, at.DATA : at.DATA + 4] = content

    def popitem(self, *, last: bool) -> None:
        """Forget the first one."""
        _, row = self._rows.popitem(last=last)
        self._index.remove(row)
