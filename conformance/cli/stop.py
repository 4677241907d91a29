"""Signals that end a command which serves or follows: in an orderly way at first, then at once."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event

from conformance.interrupts import work_begins


@contextmanager
def first_interrupt(calls: Callable[[], object]) -> Iterator[None]:
    """Let the first Ctrl-C or SIGTERM make this call; the second one acts as usual."""

    def on_interrupt(number: int, frame: object) -> None:
        calls()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def stop_event() -> Iterator[Event]:
    """Yield an event that Ctrl-C or SIGTERM sets, for an orderly end; a second one ends the command at once."""
    stop = Event()
    work_begins()
    with first_interrupt(stop.set):
        yield stop
