"""A lake on tables as it was after a batch: which of its batches can still be asked for, and how.

The versions of the tables that an entry names tell, while their logs and files are there. After that the rows tell
which the lake has today, each with its batch: compaction changes files, not rows. What a later batch has taken away
(the provisional end of a stream that went on, forgotten days) only the versions have.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.history import gaps, is_in

if TYPE_CHECKING:
    from conformance.pipeline.lakes.delta import TableLake

Of = TypeVar("Of", bound="TableLake")
Gaps = Sequence[tuple[int, int]]
LOOKS: Final = 50
"""Earlier lakes that are tried to find the oldest that can be read."""


def as_of(lake: Of, number: int) -> Of:
    """Return the lake as it was after a batch. Raises PipelineError if that can no longer be read."""
    found = lake.then(number)
    if found is not None:
        return found
    taken = gaps(lake.entries())
    if not is_in(taken, number):
        return lake.of_today(number)
    raise PipelineError(
        f"The lake {lake.place} as of batch {number} can no longer be read: a later batch has taken rows away, and"
        " their files, or the logs that name them, have been removed (mqconform pipeline vacuum). From batch"
        f" {_oldest(lake, taken)} on, it can be."
    )


def unreadable(lake: TableLake, numbers: Sequence[int]) -> set[int]:
    """Return those of the batches after which the lake can no longer be read as it was. Raises PipelineError.

    Of two after which rows were taken away, the newer one is taken for readable if the older one is: few are tried.
    """
    taken = gaps(lake.entries())
    asked = sorted(number for number in numbers if is_in(taken, number))
    return set(asked[: bisect_left(asked, True, key=lambda number: lake.then(number) is not None)])


def _oldest(lake: TableLake, taken: Gaps) -> int:
    """Return the batch from which on the lake can be read as it was after each."""
    oldest = lake.known().version
    for _ in range(LOOKS):
        if oldest > 1 and not is_in(taken, oldest - 1):
            oldest = max((stop + 1 for _, stop in taken if stop < oldest), default=1)
        elif oldest > 1 and lake.then(oldest - 1) is not None:
            oldest -= 1
        else:
            break
    return oldest
