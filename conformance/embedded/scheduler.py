"""Reproducible races: requests stop at the holes of the locks of a fault, and a seed decides which one resumes.

One request runs at a time, each in a thread of its own. At a hole it stops, and its caller regains control as if the
request were done. It resumes after a later request, or when its caller reports that it is idle (`idle`). So the same
requests, the same reports of idleness and the same seed give the same interleaving; no clock decides.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from random import Random

from conformance.embedded.store import StoreError

HOLD_S, BRIEF_S = 0.1, 0.006  # how long a server waits for the next request, which may never come
LONGEST_S = 5.0  # a request whose caller never returns resumes by itself
MOST_AT_ONCE = 16  # requests that have stopped
GOES = 0.1  # probability that a stopped request resumes when it need not


class _Turn:
    """A request in its thread. goes: it may resume. rests: it has stopped at a hole or is done. met: another came."""

    def __init__(self) -> None:
        self.goes = threading.Event()
        self.rests = threading.Event()
        self.met = False


class Scheduler:
    """lock: held by the request that runs. seed: of the random choices."""

    def __init__(self, lock: threading.RLock, seed: int) -> None:
        self._lock = lock
        self._random = Random(seed)
        self._stopped: list[_Turn] = []
        self._list = threading.Lock()  # guards `_stopped`
        self._caller = threading.Lock()  # one caller at a time
        self._own = threading.local()
        self._meets = True  # true if another request came while the last one was stopped
        self._late: StoreError | None = None

    def run(self, work: Callable[[], None]) -> None:
        """Begin a request, and return when it is done or has stopped. Raises the StoreError of an earlier request."""
        with self._caller:
            if self._late is not None:
                late, self._late = self._late, None
                raise late
            for turn in self._stopped:
                turn.met = self._meets = True
            begun = _Turn()
            threading.Thread(target=self._work, args=(begun, work), daemon=True).start()
            begun.rests.wait()
            while self._stopped and (len(self._stopped) > MOST_AT_ONCE or self._random.random() < GOES):
                self._resume()

    def idle(self, waits: bool) -> bool:
        """Resume a stopped request: always if the caller waits, by chance if it only looks.

        Returns False if it resumes none.
        """
        if not self._stopped or not (waits or self._random.random() < GOES):
            return False
        with self._caller:
            self._resume()
        return True

    def hole(self) -> None:
        """Stop the running request here, and let others in."""
        turn: _Turn | None = getattr(self._own, "turn", None)
        if turn is None:
            return  # a timer, not a request
        turn.goes.clear()
        turn.met = False
        with self._list:
            self._stopped.append(turn)
        self._lock.release()
        turn.rests.set()
        if not turn.goes.wait(LONGEST_S) and not self._took(turn):
            turn.goes.wait()  # another thread is already resuming it
        self._lock.acquire()

    def patience_s(self) -> float | None:
        """Return the seconds to wait for the next request before `idle`; None if no request has stopped."""
        return (HOLD_S if self._meets else BRIEF_S) if self._stopped else None

    def _work(self, turn: _Turn, work: Callable[[], None]) -> None:
        self._own.turn = turn
        try:
            with self._lock:
                work()
        except StoreError as failure:
            self._late = failure
        finally:
            turn.rests.set()

    def _resume(self) -> None:
        with self._list:
            turn = self._random.choice(self._stopped) if self._stopped else None
        if turn is None or not self._took(turn):
            return
        self._meets = turn.met
        turn.rests.clear()
        turn.goes.set()
        turn.rests.wait()

    def _took(self, turn: _Turn) -> bool:
        """Remove a turn from the stopped ones; return False if it has already resumed."""
        with self._list:
            if turn not in self._stopped:
                return False
            self._stopped.remove(turn)
            return True
