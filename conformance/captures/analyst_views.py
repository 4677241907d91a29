"""Runs together the views that an analyst wants beside the verdicts: conversations, messages, EVE lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.captures.conversations import Conversations
from conformance.captures.eve import Eve, eve_file
from conformance.captures.extracting import Extraction, check_target, extraction
from conformance.captures.onlookers import Onlooker


@dataclass(frozen=True, slots=True)
class Looks:
    """The views to make. extract: a new folder for the messages. eve: a file for the lines."""

    conversations: bool = False
    extract: Path | None = None
    eve: Path | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """The options of the command line that ask for it."""
        asked = (("--conversations", self.conversations), ("--extract", self.extract), ("--eve", self.eve))
        return tuple(name for name, value in asked if value)

    def check(self) -> None:
        """Raise NotWrittenError when the folder is in use."""
        if self.extract is not None:
            check_target(self.extract)


@dataclass(frozen=True, slots=True)
class Looked:
    """The views made; None for one that nobody asked for."""

    conversations: Conversations | None = None
    extracted: Extraction | None = None
    eve: Eve | None = None

    @property
    def onlookers(self) -> Sequence[Onlooker]:
        """Those that look."""
        every: tuple[Onlooker | None, ...] = (self.conversations, self.extracted, self.eve)
        return [one for one in every if one is not None]


@contextmanager
def looking(asked: Looks, *, live: bool) -> Iterator[Looked]:
    """Yield onlookers; what they write is complete at the end. live: EVE lines can be read as they come.

    Raises NotWrittenError.
    """
    with ExitStack() as stack:
        extracted = None if asked.extract is None else stack.enter_context(extraction(asked.extract))
        eve = None if asked.eve is None else stack.enter_context(eve_file(asked.eve, live=live))
        found = Looked(Conversations() if asked.conversations or eve is not None else None, extracted, eve)
        yield found
        if eve is not None and found.conversations is not None:
            eve.conversations(found.conversations.rows)
