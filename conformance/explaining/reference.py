"""Play a story to the embedded manager without faults, before anybody is told that an implementation fails it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Final

from conformance.adapter.client import Client
from conformance.explaining.going_on import embedded
from conformance.explaining.stories import Implementation, implementation_of
from conformance.harness.guarded_client import DriverGone, GuardedClient, refusals
from conformance.harness.recorder import RunOptions
from conformance.harness.rejudge import NotRepeatable, rejudge
from conformance.harness.run_session import RunSession, hello_json
from conformance.verdict import Outcome

STORY_S: Final = 5.0  # seconds for one story; most take some milliseconds
ALL_S: Final = 90.0  # seconds for the stories of one worker; later ones are told unchecked


@dataclass(slots=True)
class Reference:
    """The reference of a run. ask: returns the implementation, whose readings it follows. spent: seconds, so far."""

    ask: Callable[[], Implementation]
    options: RunOptions
    spent: float = 0.0
    _client: Client | None = None
    _open: ExitStack = field(default_factory=ExitStack)

    def fails(self, suite: str, repro: Mapping[str, Any]) -> bool:
        """Tell whether the reference fails a story; what it cannot play, or not in time, it does not fail."""
        if self.spent > ALL_S:
            return False
        began = time.monotonic()
        nothing_said: tuple[type[BaseException], ...] = (Exception, DriverGone, *refusals())
        try:
            return self._fails(suite, repro, began + STORY_S)
        except NotRepeatable:
            return False
        except nothing_said:
            self.close()
            return False
        finally:
            self.spent += time.monotonic() - began

    def _fails(self, suite: str, repro: Mapping[str, Any], until: float) -> bool:
        if self._client is None:
            self._client = self._open.enter_context(embedded((), self.ask()))
        client = GuardedClient(self._client, until=until)
        # What it cannot but follow is accepted: the choice of readings is not what is asked here.
        followed = {name: (chosen,) for name, chosen in client.hello.readings.items()}
        readings = {name: (*taken, *followed.get(name, ())) for name, taken in self.options.readings.items()}
        verdicts = rejudge(suite, repro, client, replace(self.options, readings=readings))
        return any(verdict.outcome is Outcome.FAIL for verdict in verdicts)

    def close(self) -> None:
        """End the embedded manager; the next story starts another one."""
        self._client = None
        self._open.close()


def reference_of(session: RunSession) -> Reference:
    """Return the reference of a run. Its implementation is asked for its hello when that is needed."""
    profile = session.options.profile
    return Reference(lambda: implementation_of(hello_json(session.client()), profile, {}), session.options)
