"""The driver's life: launch, hello, relaunch on the same state, the budget of relaunches, the end.

Nothing is relaunched before a first good hello: a driver that never spoke is not a driver. After that a dead one is
replaced at the next call, until the budget is spent.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import conformance
from conformance.adapter import protocol
from conformance.adapter.errors import ConnectorError, DriverCrashed, DriverFault, DriverTimeout, DriverUnusable
from conformance.adapter.hello import Hello
from conformance.adapter.lines import Link
from conformance.adapter.session import Session

STOP_MS = 5_000  # for a graceful end: the answer to `stop`, and then the exit
CLOSE_MS = 2_000  # the same when nothing depends on it


@dataclass(frozen=True, slots=True)
class Launcher:
    """How to get a link. label: what to call the driver before it has said its name.

    refusal_status: exit status by which one of our own hosts refuses its arguments, with the sentence on stderr.
    """

    label: str
    launch: Callable[[], Link]
    refusal_status: int | None = None


class Supervisor:
    """Keeps one session alive. epoch counts driver processes (or connections), from 1."""

    def __init__(
        self,
        launcher: Launcher,
        *,
        state_dir: Path,
        deadline_ms: int,
        hello_ms: int,
        restart_budget: int,
        namespace: str | None,
    ) -> None:
        """restart_budget: crashes borne before the driver is unusable; a time-out counts for ten."""
        self.epoch = 0
        self.hello: Hello | None = None
        self._launcher = launcher
        self._state_dir = state_dir
        self._deadline_ms = deadline_ms
        self._hello_ms = hello_ms
        self._budget = restart_budget
        self._left = restart_budget
        self._namespace = namespace
        self._session: Session | None = None
        self._next_number = 1
        self._unusable: DriverUnusable | None = None
        self._last_fault: DriverFault | None = None
        self._closed = False

    def session(self) -> Session:
        """The session that is alive, or a new one. Raises DriverUnusable, or DriverFault when a relaunch fails."""
        if self._session is None:
            self._session = self._open()
        return self._session

    def restart(self, *, kill: bool) -> bool:
        """End the driver, by force or gracefully, and launch it again on the same state.

        True if it ended as asked; a graceful end that took too long was made a kill.
        """
        went = self._end(kill=kill, within_ms=STOP_MS)
        self.session()
        return went

    def close(self) -> bool:
        """End the driver gracefully, or else by force. True if it went by itself (or was none)."""
        self._closed = True
        return self._end(kill=False, within_ms=CLOSE_MS)

    def _end(self, *, kill: bool, within_ms: int) -> bool:
        session, self._session = self._session, None
        if session is None:
            return True
        until = time.monotonic() + within_ms / 1000
        went = True
        if not kill and session.link.stops:
            went = self._ask_to_stop(session, within_ms)
        self._next_number = session.next_number
        session.abandon()
        if kill:
            session.link.kill()
            return True
        return session.link.finish(max(until - time.monotonic(), 0.1)) and went

    def _ask_to_stop(self, session: Session, within_ms: int) -> bool:
        if self.hello is None or not self.hello.offers("stop"):
            return True  # the end of its input is the only sign it gets
        try:
            session.start("stop", {"deadline_ms": within_ms}, within_ms).result()
        except DriverFault:
            return False
        return True

    def _open(self) -> Session:
        if self._closed:
            raise DriverUnusable("the session with the driver was closed")
        if self._unusable is not None:
            raise self._unusable
        if self._left < 0:
            self._unusable = DriverUnusable(
                f"{self._who()} broke too often (restart budget of {self._budget} spent); the last time: "
                f"{self._last_fault.sentence if self._last_fault else 'unknown'}"
            )
            raise self._unusable
        first = self.hello is None
        try:
            link = self._launcher.launch()
        except DriverUnusable as unusable:
            self._unusable = unusable
            raise
        self.epoch += 1
        session = Session(
            link,
            epoch=self.epoch,
            first_number=self._next_number,
            who=self._who(),
            deadline_ms=self._deadline_ms,
            on_end=self._ended,
        )
        self._session = session
        try:
            self.hello = self._greet(session)
            session.who = self._who()
            session.can_lack = self.hello.protocol != "1.0"
            self._settle_in(session)
        except DriverFault as fault:
            if not first:
                raise
            if fault.returncode is not None and fault.returncode == self._launcher.refusal_status and fault.stderr:
                raise ConnectorError(fault.stderr.splitlines()[-1]) from fault
            self._unusable = DriverUnusable(_no_hello(fault, self._hello_ms))
            raise self._unusable from fault
        except DriverUnusable as unusable:
            self._session = None
            session.abandon()
            link.kill()
            self._unusable = unusable
            raise
        return session

    def _greet(self, session: Session) -> Hello:
        params = {
            "versions": list(protocol.VERSIONS),
            "harness": f"mqconform {conformance.__version__}",
            "state_dir": str(self._state_dir),
            "deadline_ms": self._hello_ms,
        }
        result = session.start("hello", params, self._hello_ms).result()
        if result.failure is not None:
            raise DriverUnusable(f"{session.who} refused hello: {result.failure.kind}: {result.failure.text}")
        hello = Hello.from_json(result.values)
        if hello.protocol not in protocol.VERSIONS:
            raise DriverUnusable(
                f"{session.who} speaks adapter protocol {hello.protocol}, this harness speaks "
                f"{', '.join(protocol.VERSIONS)}: use a driver or a harness of the other version"
            )
        age = protocol.VERSIONS.index
        for name, version in protocol.since("hello").items():
            if name in result.values and age(version) < age(hello.protocol):
                raise DriverUnusable(
                    f"{session.who} speaks adapter protocol {hello.protocol}, which has no {name} in hello: "
                    "answer a newer protocol among the versions offered, or leave it out"
                )
        return hello

    def _settle_in(self, session: Session) -> None:
        """A namespace of our own: the one asked for, and on a shared manager a new one for every connection."""
        assert self.hello is not None
        namespace = self._namespace
        if not session.link.keeps_state:
            namespace = f"{namespace or 'mqconform'}-{time.time_ns():x}-{self.epoch}"
        if namespace is not None and self.hello.offers("attach"):
            params = {"namespace": namespace, "deadline_ms": self._deadline_ms}
            result = session.start("attach", params, self._deadline_ms).result()
            if not result.ok:
                raise DriverUnusable(f"{session.who} refused attach: {result.to_json()}")
        elif self._namespace is not None and not session.link.keeps_state:
            raise DriverUnusable(f"{session.who} does not offer attach, which a shared manager needs: run one worker")

    def _ended(self, fault: DriverFault) -> None:
        if self._session is not None:
            self._next_number = self._session.next_number
        self._session = None
        self._last_fault = fault
        self._left -= fault.restart_cost

    def _who(self) -> str:
        return f"the driver {self.hello.name if self.hello else self._launcher.label}"


def _no_hello(fault: DriverFault, hello_ms: int) -> str:
    if isinstance(fault, DriverTimeout):
        return f"{fault.sentence}: no hello within {hello_ms / 1000:g} s, so it was given up"
    if isinstance(fault, DriverCrashed):
        return f"{fault.sentence}: it never said hello, so it was not started again"
    return f"{fault.sentence}: it is no driver for this protocol"
