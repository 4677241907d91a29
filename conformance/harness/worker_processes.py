"""Signals in worker processes, and the memory of a request to end that a callback would lose."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pluggy import HookimplMarker

from conformance.interrupts import SIGNALS

if TYPE_CHECKING:
    import pytest

hookimpl = HookimplMarker("pytest")  # pytest itself is heavy, and a replay imports this module too

ENOUGH = signal.SIGUSR1
"""Signal from the process that drives the run to a worker that is to end before it has run all its tests."""


class Stop:
    """Requests to end the run in this process early.

    asked: a request has come and `look` has not yet raised it. heard: a request has come at any time. patient: `look`
    is called soon, so a signal handler need not raise anything. lost: the sentence why the record cannot be written.
    workers: process ids of the workers of this process. enough: in a worker, all workers together have found the
    number of deviations after which the run stops.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all requests, as before any run."""
        self.asked = self.heard = self.patient = self.enough = False
        self.lost: str | None = None
        self.workers: list[int] = []

    def ask(self) -> None:
        """End the run here and in all workers: Ctrl-C in a terminal reaches the workers too, but `kill` does not."""
        self.asked = self.heard = True
        for worker in self.workers:
            with suppress(OSError):
                os.kill(worker, signal.SIGINT)

    def look(self) -> None:
        """Raise KeyboardInterrupt, once per request, if the run is to end."""
        if self.asked:
            self.asked = False
            raise KeyboardInterrupt


STOP = Stop()


def end_between_examples() -> None:
    """Install the signal handlers of a worker, so that it ends only between examples, with a complete record."""

    def ask(number: int, frame: object) -> None:
        STOP.ask()

    def enough(number: int, frame: object) -> None:
        STOP.enough = True

    if threading.current_thread() is threading.main_thread():
        signal.signal(ENOUGH, enough)
        for number in SIGNALS:
            signal.signal(number, ask)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


GRACE_S = 40
"""Seconds that the workers of an interrupted run have to complete their records: a busy machine imports for ten."""


class Workers:
    """Pytest plugin of a run with workers.

    most: number of failed tests after which all workers end; 0 for no limit.

    A worker interrupted during its imports would end with a traceback and without a record. So a worker inherits
    blocked signals from this process, and `interrupt.end_between_examples` unblocks them.
    """

    def __init__(self, most: int = 0) -> None:
        self._most = most
        self._failed = 0
        self._listening: dict[str, int] = {}  # worker to process id

    @hookimpl(wrapper=True)
    def pytest_sessionstart(self) -> Generator[None, Any, Any]:
        """Unblock signals after xdist has started the workers; signals that came meanwhile arrive then."""
        if threading.current_thread() is not threading.main_thread():
            return (yield)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        try:
            return (yield)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self) -> None:
        """Block the signals: the next processes to be started are workers. Give them time to end."""
        from xdist.workermanage import NodeManager

        NodeManager.EXIT_TIMEOUT = GRACE_S
        if threading.current_thread() is threading.main_thread():
            signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)

    @hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Register a worker for requests to end the run."""
        STOP.workers.append(node.gateway._rinfo().pid)

    @hookimpl(optionalhook=True)
    def pytest_testnodeready(self, node: Any) -> None:
        """Note that a worker handles signals from now on."""
        self._listening[node.gateway.id] = node.gateway._rinfo().pid

    @hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Forget an ended worker: another process may soon have its id."""
        self._listening.pop(node.gateway.id, None)

    @hookimpl(tryfirst=True)
    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Give the workers time to end also after an interrupt while they are started.

        pytest calls no `pytest_sessionfinish` then, so xdist would leave them to the exit of the process, which kills
        them after a second, in the middle of their records.
        """
        manager = getattr(config.pluginmanager.getplugin("dsession"), "nodemanager", None)
        if manager is not None:
            manager.teardown_nodes()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count failed tests. At the last allowed one, end all workers at once: the tests they were already given may
        take minutes."""
        self._failed += report.failed
        if self._most and self._failed >= self._most:
            for worker in self._listening.values():
                with suppress(OSError):
                    os.kill(worker, ENOUGH)
