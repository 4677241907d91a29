"""Signals that end a command: Ctrl-C (SIGINT), SIGTERM and SIGHUP all have the same effect at any moment.

Before `work_begins` a signal ends the process at once, as there is nothing to keep yet. After it, a signal raises
KeyboardInterrupt, or calls the current handler of SIGINT. After `work_is_over` a signal ends the process at once again.
A signal that is ignored from the start (`nohup`, a background job) stays ignored.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys

TYPE_CHECKING = False  # A signal could arrive while `typing` or `threading` is imported.
if TYPE_CHECKING:
    from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 130
"""Equals `verdict.ExitCode.INTERRUPTED`; a signal could arrive while that is imported."""
AGAIN_S = 0.05
_SENTENCE = b"mqconform: Interrupted.\n"


def begin() -> None:
    """From here on no signal leaves a traceback. A command calls this before its imports."""
    try:
        _handle(_end_at_once)
    except ValueError:  # Only the main thread can set handlers.
        return
    atexit.register(_end)  # Registered first, called last; after it Python removes its own handlers.


def work_begins() -> None:
    """From here on a signal raises KeyboardInterrupt in the main thread, as there is something to clean up.

    Does nothing in a process that did not call `begin`, or on a second call.
    """
    if not _in_main_thread():
        return
    for number in SIGNALS:
        if signal.getsignal(number) is _end_at_once:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else _as_interrupt)
            sys.unraisablehook = _not_lost


def work_is_over(code: int) -> None:
    """From here on a signal ends the process at once, as the result is known. code: the exit code."""
    global _code
    _code = code
    if _in_main_thread():
        signal.setitimer(signal.ITIMER_REAL, 0)
        _handle(_end_at_once)
        # If an interrupt hits code compiled from a string (a dataclass, a named tuple), the interpreter remembers it
        # and dies of SIGINT when it exits, even if the exception was caught. Running any such code clears this.
        exec("")


class without_signals:
    """Start threads in this block that take no signals.

    Else one takes a signal while the main thread blocks them, as it does when it starts workers.
    """

    def __enter__(self) -> None:
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)

    def __exit__(self, *_: object) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)


def behind(error: BaseException | None) -> bool:
    """True if the exception is a KeyboardInterrupt, or one is among its causes and contexts."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _in_main_thread() -> bool:
    import threading

    return threading.current_thread() is threading.main_thread()


def _handle(handler: Any) -> None:
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _ignore() -> None:
    _handle(signal.SIG_IGN)


_code = 0


def _end() -> None:
    _ignore()
    if "pyarrow" in sys.modules:
        # Its threads call into an interpreter that is torn down, which can abort the process: apache/arrow#45017.
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(_code)


def _end_at_once(number: int, frame: object) -> None:
    _ignore()
    try:
        os.write(2, _SENTENCE)
    finally:  # also when stderr is closed
        os._exit(INTERRUPTED)


def _as_interrupt(number: int, frame: object) -> None:
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        handler(signal.SIGINT, None)
    else:
        raise KeyboardInterrupt


def _not_lost(unraisable: Any) -> None:
    """Raise an interrupt a little later that arrived where nothing can be raised, as in a destructor."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
    elif _in_main_thread():
        signal.signal(signal.SIGALRM, _again)
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S)


def _again(number: int, frame: object) -> None:
    raise KeyboardInterrupt
