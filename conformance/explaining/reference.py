"""Play a story to the embedded manager without faults, before anybody is told that an implementation fails it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from conformance.adapter.client import Client
from conformance.explaining.going_on import DEADLINE_MS, embedded
from conformance.explaining.playing import quick_folder
from conformance.explaining.stories import Implementation, implementation_of
from conformance.harness.connecting import open_client
from conformance.harness.guarded_client import DriverGone, GuardedClient, lacking, refusals
from conformance.harness.recorder import RunOptions
from conformance.harness.rejudge import NotRepeatable, rejudge
from conformance.harness.run_session import Check, RunSession, hello_json
from conformance.harness.tape import ON_THE_NETWORK
from conformance.spec.catalogue import assignment
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import Outcome

STORY_S: Final = 5.0  # seconds for one story; most take some milliseconds
DIALOGUE_S: Final = 40.0  # seconds for a dialogue or a walk, which waits for timers of a real clock
ALL_S: Final = 90.0  # seconds for the stories of one worker; later ones are told unchecked
Serve = Callable[[], AbstractContextManager[str]]


@dataclass(slots=True)
class Reference:
    """The reference of a run. ask: returns the implementation, whose readings it follows. spent: seconds, so far.

    serve: starts an embedded manager on the network, for dialogues and walks, and yields its connector.
    """

    ask: Callable[[], Implementation]
    options: RunOptions
    serve: Serve | None = None
    spent: float = 0.0
    _clients: dict[bool, Client] = field(default_factory=dict)
    _open: ExitStack = field(default_factory=ExitStack)

    def check(self, suite: str, repro: Mapping[str, Any]) -> Check:
        """Tell whether the reference fails a story, or why that is not known."""
        if self.spent > ALL_S:
            return Check(False, f"the {ALL_S:g} s for such checks were spent")
        began = time.monotonic()
        nothing_said: tuple[type[BaseException], ...] = (Exception, DriverGone, *refusals())
        served = repro.get("kind") in ON_THE_NETWORK
        limit_s = DIALOGUE_S if served else STORY_S
        try:
            return Check(self._fails(suite, repro, began + limit_s, served=served))
        except NotRepeatable as why:
            return Check(False, str(why))
        except nothing_said as error:
            self.close()
            late = time.monotonic() > began + limit_s
            return Check(False, f"it took over {limit_s:g} s" if late else _sentence(error))
        finally:
            self.spent += time.monotonic() - began

    def _fails(self, suite: str, repro: Mapping[str, Any], until: float, *, served: bool) -> bool:
        if served and self.serve is None:
            raise NotRepeatable("no manager on the network was started for it")
        if served not in self._clients:
            self._clients[served] = self._open.enter_context(self._served() if served else embedded((), self.ask()))
        client = GuardedClient(self._clients[served], until=until)
        # What it cannot but follow is accepted: the choice of readings is not what is asked here.
        followed = {name: (chosen,) for name, chosen in client.hello.readings.items()}
        readings = {name: (*taken, *followed.get(name, ())) for name, taken in self.options.readings.items()}
        options = replace(self.options, readings=readings)
        if served:  # it follows the default readings of the default profile
            options = replace(options, readings=assignment("windows"), profile=DEFAULT_PROFILE)
        verdicts = rejudge(suite, repro, client, options)
        return any(verdict.outcome is Outcome.FAIL for verdict in verdicts)

    def _served(self) -> Client:
        assert self.serve is not None
        folder = self._open.enter_context(quick_folder())
        connector = self._open.enter_context(self.serve())
        return open_client(connector, state_dir=Path(folder), in_process=True, deadline_ms=DEADLINE_MS)

    def close(self) -> None:
        """End the embedded managers; the next story starts another one."""
        self._clients.clear()
        self._open.close()


def reference_of(session: RunSession, serve: Serve | None = None) -> Reference:
    """Return the reference of a run. Its implementation is asked for its hello when that is needed."""
    profile = session.options.profile
    return Reference(lambda: implementation_of(hello_json(session.client()), profile, {}), session.options, serve)


def _sentence(error: BaseException) -> str:
    """Return why a story was not played to its end, in words."""
    what = lacking(error)
    return f"the embedded manager has no {what}" if what else f"the check failed with {type(error).__name__}: {error}"
