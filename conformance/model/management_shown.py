"""`Shown`: a value of a management property, to be judged in the state it was told in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from conformance.model.management_rows import ManagementRow
from conformance.model.observation import Answer
from conformance.model.property_refusals import equal
from conformance.model.rules import Rules
from conformance.model.state import Queue, State
from conformance.verdict import Json, Outcome, Verdict

_MOST_LISTED: Final = 60  # of what an answer lists, in a verdict


@lru_cache(8192)
def passed(demand: str, subject: str) -> Verdict:
    """Return the verdict that a demand holds: the same one for the same subject, which is quick to count."""
    return Verdict(demand, Outcome.PASS, subject)


@dataclass(frozen=True, slots=True)
class Shown:
    """One value. queue: that of the call, None for the machine. given: the variant; value: what it holds."""

    rules: Rules
    state: State
    queue: Queue | None
    row: ManagementRow
    subject: str
    value: Json
    given: Json
    answer: Answer

    @property
    def name(self) -> str:
        """Name of the queue."""
        return self.queue.name if self.queue is not None else ""

    def equal(self, demand: str, holds: bool, expected: Json) -> Verdict:
        """Return the verdict that this value holds a demand or does not.

        What was expected and told is in a failure alone: most values are right, and some are long.
        """
        if holds:
            return passed(demand, self.subject)
        return equal(demand, self.subject, holds, expected, short(self.value))

    def texts(self, expected: str) -> Iterator[Verdict]:
        """Judge a text of an enumeration."""
        yield self.equal(self.row.values[expected], self.value == expected, expected)


def short(value: Json) -> Json:
    """Return a value, of a long list its beginning and its length."""
    if isinstance(value, list) and len(value) > _MOST_LISTED:
        return [*value[:_MOST_LISTED], f"... {len(value)} in all"]
    return value


Told: TypeAlias = tuple[State, list[Verdict]]
Judging: TypeAlias = Callable[[Shown], Told]


def stateless(judge: Callable[[Shown], Iterator[Verdict]]) -> Judging:
    """Return the judging of a value that teaches nothing beside its verdicts."""
    return lambda shown: (shown.state, list(judge(shown)))


def passes(demand: str, shown: Shown) -> Verdict:
    """Return the verdict that a demand holds."""
    return passed(demand, shown.subject)
