"""Judge the connections of large streams on all cores.

A walk parts each stream into groups of connections that share nothing (`connections_walk`), and the groups go into
buckets. Each range of the stream then gives facts on its packets to the buckets (`connections_facts`), and each bucket
judges what it gets, in order (`connections_judge`), with the rules and the code of a stream that is judged by one core.

The connections of one server are parted by its clients, and all buckets overhear what crosses them
(`connections_server`). What else crosses groups is seen to at the end: a verdict that is told once a capture is told
for the earliest packet, and the readings of senders are put together. Where verdicts could differ from those on the
whole (see `conformance.judge.sessions.columns.parts`), nothing of the parts counts, and one core judges the stream in
order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from conformance.captures.engine import MAX_KEPT, MAX_SENDERS
from conformance.captures.followed import Followed, key_of
from conformance.captures.judge import PACKET, SESSION
from conformance.captures.packet_rules import PacketRules
from conformance.judge.packets.causes import TRIES
from conformance.judge.sessions.columns.parts import joined, refutations, why_not
from conformance.judge.sessions.context import Seen
from conformance.pipeline.connections_judge import BucketDone, Held, Said
from conformance.pipeline.connections_sent import elsewhere
from conformance.pipeline.connections_shuffle import by_buckets, parted
from conformance.pipeline.connections_walk import Parted, PartedTask, Parting
from conformance.pipeline.lacking import add, incomplete_of
from conformance.pipeline.lake import Kept, Part, Target
from conformance.pipeline.memory import freeze, thaw, unpacked
from conformance.pipeline.memory import kept as state_bytes
from conformance.pipeline.rows import Row, Rows, day, texts
from conformance.pipeline.rows_writer import Teller, packet_row
from conformance.pipeline.streams import How, State, StreamDone, capture_row
from conformance.pipeline.tables_sink import ArrowTables
from conformance.pipeline.workers import Workers
from conformance.runlog import Incomplete
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect

_TURNS = 2
"""The second time, parts know what refutes scopes, which does not depend on who knows it."""
_AHEAD = 16
"""The first of so many ranges show how queue managers take sequences."""


@dataclass(slots=True)
class Apart:
    """The result of streams judged in parts. in_order: by key, why a stream is left to one core, with all its files."""

    streams: list[StreamDone] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    in_order: dict[str, str] = field(default_factory=dict)
    ranges: int = 0


def judge_apart(tasks: Sequence[PartedTask], how: How, target: Target, workers: Workers) -> Apart:
    """Judge streams in parts on all cores."""
    out = Apart()
    plans = parted(tasks, workers)
    out.in_order.update({plan.key: plan.why for plan in plans if plan.why is not None})
    rows = Rows(target, f"part-{how.batch}-connections")
    waiting = _looked_ahead([plan for plan in plans if plan.why is None], target, workers)
    for turn in range(_TURNS if waiting else 0):
        done, failed = by_buckets(waiting, target, workers)
        again: list[Parted] = []
        for plan in waiting:
            parting: Parting = thaw(target.carried(plan.place))
            buckets = done.get(plan.place, [])
            met = next(unpacked(target.carried(parting.met))) if parting.met else {}
            why = failed.get(plan.key) or refused(parting, buckets, met)
            if why is None and (found := refutations(one.marks for one in buckets)) != parting.refuted:
                why = "parts differ in how they take the sequences of a queue manager"
                again += [_knowing(plan, parting, found, turn + 1, target)] if turn + 1 < _TURNS else []
            if why is not None:
                out.in_order[plan.key] = why
                _remove(buckets, target)
                continue
            out.in_order.pop(plan.key, None)
            out.streams.append(_Assembly(parting, plan, buckets, rows).assembled())
            out.parts += [part for bucket in buckets for part in bucket.parts]
            out.ranges += len(plan.work)
        if not (waiting := again):
            break
    out.parts += rows.close()
    return out


def _looked_ahead(plans: Sequence[Parted], target: Target, workers: Workers) -> list[Parted]:
    """Let parts know how the queue managers that several of them meet take sequences, as the first ranges show.

    What refutes a reading of the documents comes early, if at all: the usual sender follows one of them.
    """
    partings: dict[str, Parting] = {plan.place: thaw(target.carried(plan.place)) for plan in plans}
    ahead = [plan for plan in plans if partings[plan.place].sends and len(plan.work) >= _AHEAD]
    done, _ = by_buckets(ahead, target, workers, _AHEAD)
    known: dict[str, Parted] = {}
    for plan in ahead:
        buckets = done.get(plan.place, [])
        _remove(buckets, target)
        found = refutations(one.marks for one in buckets)
        if found:
            known[plan.key] = _knowing(plan, partings[plan.place], found, 0, target)
    return [known.get(plan.key, plan) for plan in plans]


def _knowing(plan: Parted, parting: Parting, found: dict[tuple[str, str], int], turn: int, target: Target) -> Parted:
    """Return the plan of a stream whose buckets know what refutes scopes of sequences."""
    data = freeze(replace(parting, refuted=found))
    return replace(plan, place=target.carry(f"{parting.stream}-{turn}.parting", data))


def _remove(buckets: Sequence[BucketDone], target: Target) -> None:
    for part in (part for bucket in buckets for part in bucket.parts):
        target.remove(part.table, part.date, part.name)


def refused(parting: Parting, buckets: Sequence[BucketDone], met: Mapping[str, bytes]) -> str | None:
    """Return why nothing of the parts may count; None if all of it does. met: see `Parting`."""
    for bucket in buckets:
        if bucket.trouble is not None:
            return f"a part could not be judged to its end ({bucket.trouble})"
    why = why_not((bucket.marks for bucket in buckets), ordered=parting.ordered, crossing=parting.buckets.crossing)
    if why is not None:
        return why
    for bucket in buckets:
        for name, number in bucket.marks.asked:
            if elsewhere(np.frombuffer(met[name], np.int64), number, bucket.bucket):
                return "a message of a queue manager that several parts meet was asked for in vain"
    held = [one for bucket in buckets for one in bucket.held]
    waiting = sum(key_of(said)[1] is not Outcome.PASS for one in held for said in (*one.alone, *one.more))
    for said in (_all_said(buckets, at) for at in (*range(len(parting.captures)), "expired", "ended")):
        if sum(one.single for one in said) + waiting > MAX_KEPT:
            return "more deviates than has rows of its own"
        if sum(one.tries for one in said) >= TRIES:
            return "the search for causes has an end"
    senders = {name for bucket in buckets for name in bucket.followed.senders} | {one.sender for one in held}
    if len(senders) > MAX_SENDERS or any(bucket.crowded for bucket in buckets):
        return "there are more senders than are remembered"
    return None


def _all_said(buckets: Sequence[BucketDone], at: int | str) -> list[Said]:
    if isinstance(at, str):
        return [getattr(bucket, at) for bucket in buckets]
    return [bucket.said[at] for bucket in buckets if at in bucket.said]


class _Assembly:
    """Puts the buckets of one stream together."""

    def __init__(self, parting: Parting, plan: Parted, buckets: Sequence[BucketDone], rows: Rows) -> None:
        self.parting, self.plan, self.buckets, self.rows = parting, plan, buckets, rows
        self.outcomes: Counter[str] = Counter()
        self.more = Followed()  # By the packets that were held back.
        how = parting.how
        self.rules = PacketRules(how.profile, how.readings, how.level)

    def assembled(self) -> StreamDone:
        """Write what no bucket could, and return the result."""
        parting = self.parting
        for bucket in self.buckets:
            self.outcomes.update(bucket.outcomes)
        self._held()
        found = [self._row(at) for at in range(len(parting.captures))]
        for row in found[:-1]:
            self.rows.add("captures", row)
        pending = found[-1]
        kept = None
        if parting.keep:
            _behind(pending, _all_said(self.buckets, "expired"))
            kept = self._keep(pending)
        final = dict(pending)
        _behind(final, _all_said(self.buckets, "ended"))
        final["skipped"] = texts(Counter(dict(final["skipped"])) + parting.end_skipped)
        part = parting.stream if kept is not None else None
        self.rows.add("captures", final, stream=part)
        self._conclude(final, part)
        every = [*found[:-1], final]
        return StreamDone(
            [str(one.probe.capture) for one in parting.captures], (), kept, None,
            sum(row["packets"] for row in every), sum(row["records"] for row in every), self.outcomes,
            Incomplete.sum(map(incomplete_of, every)),
        )  # fmt: skip

    def _held(self) -> None:
        """Tell what is told once a capture for its earliest packet, and the packets that had to wait for that."""
        held = sorted((one for bucket in self.buckets for one in bucket.held), key=lambda one: one.frame.number)
        first: dict[str, int] = {}
        for one in held:
            for name in one.first:
                first.setdefault(name, one.frame.number)
        for one in held:
            later = {name for name in one.first if first[name] != one.frame.number}
            teller = self._teller(one.capture, None)
            sink = ArrowTables(teller, self.rules, self.more, self.parting.path, {})
            self._tell(one, later, sink, teller)
            sink.end()
            teller.close()
            self.outcomes.update(teller.outcomes)

    def _tell(self, one: Held, later: set[str], sink: ArrowTables, teller: Teller) -> None:
        more = [said for said in one.more if _undecided(said) not in later]
        seen = Seen(one.frame, dissect(one.frame.data, transport=one.frame.transport))
        sink.packet(seen, one.sender, {PACKET: one.alone, SESSION: more}, counted=one.counted)
        if teller.every_packet and one.counted and one.frame.number not in sink.own:
            good = Verdict("", Outcome.PASS, "")
            teller.packet_row(packet_row(one.frame, seen.packet, [good]), one.sender)

    def _teller(self, at: int, part: str | None, *, end: bool = False) -> Teller:
        read, how = self.parting.captures[at], self.parting.how
        return Teller(
            self.rows, str(read.probe.capture), self.parting.stream, day(read.probe.first_ns), how.every_packet,
            at_end=end, part=part,
        )  # fmt: skip

    def _row(self, at: int) -> Row:
        read, said = self.parting.captures[at], _all_said(self.buckets, at)
        return capture_row(
            read.probe, self.parting.how, self.parting.stream, at + 1, (read.probe.first_ns, read.last_ns),
            records=read.records, packets=sum(one.packets for one in said), lost=sum(one.lost for one in said),
            skipped=read.skipped, slow=Counter(), cut=read.cut, lacking=Incomplete.sum(one.lacking for one in said),
            ranges=read.ranges,
        )  # fmt: skip

    def _followed(self, name: str) -> Followed:
        whole = Followed()
        for one in (*(getattr(bucket, name) for bucket in self.buckets), self.more):
            whole.merge(one)
        return whole

    def _keep(self, pending: Row) -> Kept:
        """Write the state of the stream, so that it can continue."""
        parting = self.parting
        judges = {bucket.bucket: bucket.judge for bucket in self.buckets if bucket.judge is not None}
        sessions = joined(judges, parting.how.readings, parting.reached, parting.buckets.of_host)
        state = State(
            parting.stream, parting.path, sessions,
            thaw(parting.target.carried(self.plan.reading)), followed=self._followed("followed_then"),
        )  # fmt: skip
        for bucket in self.buckets:
            state.open.update(bucket.open)
        state.position, state.last_ns, state.pending = len(parting.captures), parting.last_ns, pending
        name = self.rows.keep(f"{parting.stream}-{state.position}.state", state_bytes(state))
        return Kept(parting.key, parting.stream, name, parting.last_ns, state.position)

    def _conclude(self, final: Row, part: str | None) -> None:
        """Judge each sender as a whole."""
        teller = self._teller(len(self.parting.captures) - 1, part, end=True)
        sink = ArrowTables(teller, self.rules, self._followed("followed"), self.parting.path, {})
        sink.now_ns = self.parting.end_ns
        sink.conclude()
        teller.close()
        self.outcomes.update(teller.outcomes)


def _behind(row: Row, said: Sequence[Said]) -> None:
    """Add what follows the last record to the row of its capture."""
    row["packets"] += sum(one.packets for one in said)
    row["lost_bytes"] += sum(one.lost for one in said)
    add(row, Incomplete.sum(one.lacking for one in said))


def _undecided(said: Any) -> str | None:
    inconclusive = isinstance(said, Verdict) and said.outcome is Outcome.INCONCLUSIVE
    return said.requirement if inconclusive else None


__all__ = ["Apart", "judge_apart", "refused"]
