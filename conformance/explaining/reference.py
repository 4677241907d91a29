"""Play a story to the embedded manager without faults, before anybody is told that an implementation fails it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from conformance.explaining.going_on import reference
from conformance.explaining.stories import Implementation
from conformance.harness.guarded_client import DriverGone, refusals
from conformance.harness.recorder import RunOptions
from conformance.harness.rejudge import rejudge
from conformance.verdict import Outcome

STORY_S: Final = 5.0  # seconds for one story; most take some milliseconds
ALL_S: Final = 90.0  # seconds for the stories of one worker; later ones are told unchecked


@dataclass(slots=True)
class Reference:
    """The reference of a run. ask: returns the implementation, whose readings it follows. spent: seconds, so far."""

    ask: Callable[[], Implementation]
    options: RunOptions
    spent: float = 0.0

    def fails(self, suite: str, repro: Mapping[str, Any]) -> bool:
        """Tell whether the reference fails a story; what it cannot play, or not in time, it does not fail."""
        if self.spent > ALL_S:
            return False
        began = time.monotonic()
        try:
            with (
                suppress(Exception, DriverGone, *refusals()),  # says nothing of the story
                reference((), self.ask(), began + STORY_S) as client,
            ):
                # What it cannot but follow is accepted: the choice of readings is not what is asked here.
                followed = {name: (chosen,) for name, chosen in client.hello.readings.items()}
                readings = {name: (*taken, *followed.get(name, ())) for name, taken in self.options.readings.items()}
                verdicts = rejudge(suite, repro, client, replace(self.options, readings=readings))
                return any(verdict.outcome is Outcome.FAIL for verdict in verdicts)
            return False
        finally:
            self.spent += time.monotonic() - began
