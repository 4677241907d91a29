"""Classify each deviation of a run as new or as a consequence of a known one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from conformance.harness.guarded_client import GuardedClient
    from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
    from conformance.harness.tape import Example

QUIRK = "quirk"
"""Evidence kind of a quirk: the members are those of `conformance.explaining.quirks.Quirk.to_json`."""
TOLD_TO_WORKERS = "quirks-of-workers"
"""Folder in the run folder in which workers tell each other of their quirks, as long as the run lasts."""
MAX_WITNESSES = 240  # passed examples that wait for the first deviation


class KnownDeviations(Protocol):
    """The deviations of an implementation that are known so far, as quirks."""

    def witness(self, example: Example) -> None:
        """Learn from a passed example what this implementation does otherwise and may."""

    def explains(self, failure: ConformanceFailure) -> bool:
        """Tell whether known quirks make the same of the history, and note that they do."""

    def learn(self, failures: Sequence[ConformanceFailure]) -> None:
        """Make quirks of the failures that no known quirk explains."""

    def filed(self, failures: Sequence[ConformanceFailure]) -> list[tuple[ConformanceFailure, str | None]]:
        """Return each failure, findings first, with the reason why it is a consequence, None for a finding.

        What no known quirk explains becomes one.
        """

    def onward(
        self,
        client: GuardedClient,
        judge: Recorder,
        options: RunOptions,
        histories: Sequence[Any],
        ways: tuple[int, ...],
        seconds: float,
    ) -> list[ConformanceFailure]:
        """Ask whole histories that deviated, and return what stands behind the known quirks as findings of its own.

        histories: values of `conformance.histories.situations.book.Planned`. ways: to fill messages. seconds: the
        most to spend.
        """

    def evidence(self) -> list[Mapping[str, Any]]:
        """Return the quirks met, for the record."""

    def notes(self) -> list[str]:
        """Return sentences about quirks that were known before the run and did not show."""

    def close(self) -> None:
        """Let go of what it needs; it is not asked again."""


class LazyDeviations:
    """A `Past` that is made when it is first needed: a run without deviations does not pay for it."""

    def __init__(self, make: Callable[[], KnownDeviations]) -> None:
        self._make = make
        self._made: KnownDeviations | None = None
        self._witnesses: list[Example] = []

    @property
    def _past(self) -> KnownDeviations:
        if self._made is None:
            self._made = self._make()
            for example in self._witnesses:
                self._made.witness(example)
            self._witnesses.clear()
        return self._made

    def witness(self, example: Example) -> None:
        """See `Past`; the first few are enough."""
        if self._made is not None:
            self._made.witness(example)
        elif len(self._witnesses) < MAX_WITNESSES and example not in self._witnesses:
            self._witnesses.append(example)

    def explains(self, failure: ConformanceFailure) -> bool:
        """See `Past`; so for the other members."""
        return self._past.explains(failure)

    def learn(self, failures: Sequence[ConformanceFailure]) -> None:
        """See `Past`."""
        self._past.learn(failures)

    def filed(self, failures: Sequence[ConformanceFailure]) -> list[tuple[ConformanceFailure, str | None]]:
        """See `Past`."""
        return self._past.filed(failures) if failures else []

    def onward(
        self,
        client: GuardedClient,
        judge: Recorder,
        options: RunOptions,
        histories: Sequence[Any],
        ways: tuple[int, ...],
        seconds: float,
    ) -> list[ConformanceFailure]:
        """See `Past`."""
        return self._past.onward(client, judge, options, histories, ways, seconds)

    def evidence(self) -> list[Mapping[str, Any]]:
        """See `Past`; none if nothing has deviated."""
        return [] if self._made is None else self._made.evidence()

    def notes(self) -> list[str]:
        """See `Past`; none if nothing has deviated."""
        return [] if self._made is None else self._made.notes()

    def close(self) -> None:
        """See `Past`."""
        if self._made is not None:
            self._made.close()
