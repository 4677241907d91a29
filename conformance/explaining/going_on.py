"""Ask an implementation a whole history, whatever it answers, and the embedded manager with faults the same.

No model follows a history past a deviation. So the calls are those that make sense in the embedded manager, and what
they refer to is what the implementation itself has given out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.adapter.client import Client
from conformance.explaining.playing import alternatives, quick_folder
from conformance.explaining.stories import Implementation, Told, taped
from conformance.harness.connecting import open_client
from conformance.harness.guarded_client import GuardedClient, refusals
from conformance.harness.recorder import Recorder, RunOptions
from conformance.harness.tape import Tape
from conformance.histories.driver_side import Driving
from conformance.histories.findings import fitted
from conformance.histories.situations.book import Planned
from conformance.histories.situations.play import Known, Player
from conformance.histories.situations.situation import Space
from conformance.model import BadCall, Call, State
from conformance.model.expected import message_name
from conformance.model.values import replace as altered

DEADLINE_MS = 10_000
_STATE = State()


@dataclass(frozen=True, slots=True)
class Asked:
    """A call, and the waiting reads that ended with it."""

    call: Call
    ended: tuple[str, ...] = ()


@contextmanager
def reference(faults: Sequence[str], implementation: Implementation) -> Iterator[GuardedClient]:
    """Open the embedded manager with faults, and with the readings that an implementation follows."""
    with embedded(faults, implementation) as client:
        yield GuardedClient(client)


@contextmanager
def embedded(faults: Sequence[str], implementation: Implementation) -> Iterator[Client]:
    """Do as `reference` does, for a client that may be guarded anew."""
    names = ",".join((*alternatives(implementation), *faults))
    with quick_folder() as folder:
        client = open_client(
            f"embedded+{names}" if names else "embedded",
            state_dir=Path(folder),
            in_process=True,
            deadline_ms=DEADLINE_MS,
            profile=implementation.profile,
        )
        try:
            yield client
        finally:
            client.close()


def silent(options: RunOptions) -> Recorder:
    """Return a recorder that tells nobody."""
    return Recorder(options, lambda verdict, count: None)


def whole(
    client: GuardedClient, options: RunOptions, space: Space, planned: Planned, ways: tuple[int, ...], *, real: bool
) -> tuple[Call, ...]:
    """Return the calls of a planned history with its probe, as this conforming client makes them.

    ways: to fill messages. real: the calls are for an implementation with a clock of its own; none, if such a clock
    cannot play them.
    """
    if real:
        calls = None if planned.virtual else fitted(planned.calls)
        if calls is None:
            return ()
        planned = replace(planned, calls=calls)
    return Player(client, silent(options), options, space, Known(ways=ways)).whole(planned)


def follow(client: GuardedClient, calls: Sequence[Asked]) -> tuple[Asked, ...]:
    """Make the calls that make sense, after a reset; return them with the waiting reads that ended.

    Raises DriverGone.
    """
    client.call("reset")
    driving, lookups, made = Driving(client), dict[str, int](), list[Asked]()
    pointless: tuple[type[BaseException], ...] = (BadCall, *refusals())
    for asked in calls:
        try:
            observation = driving.perform(asked.call, altered(_STATE, lookups=lookups), (frozenset(asked.ended),))
        except pointless:
            continue
        made.append(Asked(asked.call, tuple(observation.completed)))
        for answer in (observation.answer, *observation.completed.values()):
            seen = answer.message if answer is not None else None
            if seen is not None and seen.lookup_identifier is not None:
                lookups[message_name(seen)] = seen.lookup_identifier
    driving.leave()
    return tuple(made)


def heard(client: GuardedClient, calls: Sequence[Asked]) -> Told | None:
    """Ask an implementation these calls and return what was said; None if it was too much. Raises DriverGone."""
    tape = Tape(set(), lambda example: None)
    stored = [asked.call.to_json() for asked in calls]
    tape.begin("calls", {"calls": stored})
    follow(client.taped(tape), calls)
    return taped(tape.example, "situations")
