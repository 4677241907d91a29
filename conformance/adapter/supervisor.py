"""The life of a driver: launch, hello, relaunch on the same state within a restart budget, and the end.

A driver is not relaunched before its first valid hello: a program that never said hello is not a driver. After that, a
dead driver is replaced at the next call until the budget is spent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import conformance
from conformance.adapter import protocol
from conformance.adapter.errors import (
    ConnectorError,
    DriverCrashed,
    DriverFault,
    DriverTimeout,
    DriverUnusable,
    ProtocolViolation,
)
from conformance.adapter.lines import Link
from conformance.adapter.protocol import Hello
from conformance.adapter.session import Session

STOP_MS = 5_000  # for a graceful end: the answer to `stop`, then the exit
CLOSE_MS = 2_000  # the same at the end of the session
FIXED = ("protocol", "profile", "computer", "clock", "facets", "accepts")
"""Members of hello that must be the same in every epoch."""
_SHOWN = 200  # characters of a changed member in a message


@dataclass(frozen=True, slots=True)
class Launcher:
    """A function that makes a link. label: name of the driver in messages before its hello.

    refusal_status: exit status with which one of our own hosts refuses its arguments; the message is on stderr.
    """

    label: str
    launch: Callable[[], Link]
    refusal_status: int | None = None


class Supervisor:
    """Keeps one session open. epoch: number of the driver process (or connection), from 1."""

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
        """restart_budget: number of crashes before the driver is unusable; a time-out counts as ten."""
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
        """Return the open session or a new one. Raises DriverUnusable, or DriverFault when a relaunch fails."""
        if self._session is None:
            self._session = self._open()
        return self._session

    def restart(self, *, kill: bool) -> bool:
        """End the driver, by force or gracefully, and launch it again on the same state.

        Returns True if it ended as requested. A graceful end that takes too long becomes a kill.
        """
        went = self._end(kill=kill, within_ms=STOP_MS)
        self.session()
        return went

    def close(self) -> bool:
        """End the driver gracefully, else by force. Returns True if it ended by itself (or there was none)."""
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
            return True  # The end of its input is the only signal it gets.
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
            hello = self._greet(session)
            if self.hello is not None:
                _refuse_change(session, self.hello, hello)
            self.hello = hello
            session.who = self._who()
            session.can_lack = self.hello.protocol != "1.0"
            session.objects.typed = self.hello.offers("objects.advise")
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
        """Attach to our own namespace: the given one, and on a shared manager a new one for every connection."""
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


def _refuse_change(session: Session, before: Hello, now: Hello) -> None:
    """End the session if members of hello have changed: tests were selected and skipped by them."""
    for name in FIXED:
        if getattr(before, name) != getattr(now, name):
            session.fail(
                ProtocolViolation,
                f"changed {name} in hello after it was started again "
                f"({_short(getattr(before, name))} before, now {_short(getattr(now, name))})",
            )


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        value = {key: sorted(names) for key, names in sorted(value.items())}
    shown = ascii(value)
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "..."


def _no_hello(fault: DriverFault, hello_ms: int) -> str:
    if isinstance(fault, DriverTimeout):
        return f"{fault.sentence}: no hello within {hello_ms / 1000:g} s, so it was given up"
    if isinstance(fault, DriverCrashed):
        return f"{fault.sentence}: it never said hello, so it was not started again"
    return f"{fault.sentence}: it is not a driver for this protocol"
