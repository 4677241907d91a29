"""One writer at a time. In a folder the lock of the system serves, which ends with its process; in a store, a lease.

A lease is an object `_lease/NUMBER.json` that only one command can create, and `NUMBER.beat`, which its holder writes
again and again. The highest number has the lake. It is free once `NUMBER.done` is there, or once a waiting command has
seen the same beat for STALE_S by its own clock; that one then creates the next number. Clocks are never compared. A
holder that was only asleep finds a higher number before it commits, and the commit of `batches` would fail as well.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final
from uuid import uuid4

from conformance import __version__
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError
from conformance.pipeline.lakes.store import Store

LEASE: Final = "_lease"
BEAT_S = 10.0
STALE_S = 60.0
_LOOKS = 20
"""How often a waiting command looks at the beat in STALE_S."""
_NAME = re.compile(r"(\d{12})\.(json|beat|done)", re.ASCII)


@contextmanager
def leased(store: Store) -> Iterator[Callable[[], None]]:
    """Hold the lease of a lake in a store; the given function raises PipelineError once it is lost.

    Raises PipelineError if another command holds it, and OSError.
    """
    number = _taken(store)
    ended = threading.Event()
    beaten = [time.monotonic()]
    beating = threading.Thread(target=_beat, args=(store, number, ended, beaten), daemon=True)
    beating.start()

    def check() -> None:
        if time.monotonic() - beaten[0] > STALE_S / 2 or _highest(store)[0] != number:
            raise PipelineError(
                f"This command was silent for so long that another one may write to the lake {store.place}; nothing of"
                " this one is in it: run it again."
            )

    try:
        yield check
    finally:
        ended.set()
        beating.join()
        with suppress(OSError):
            store.write(_place(number, "done"), b"{}")
            for name in store.names(LEASE):
                found = _NAME.fullmatch(name)
                if found is not None and int(found[1]) < number:
                    store.remove(f"{LEASE}/{name}")


def _taken(store: Store) -> int:
    """Create the next lease when the last one is free, and return its number."""
    number, done = _highest(store)
    if number and not done:
        before, waited = _beat_of(store, number), 0
        while waited < _LOOKS:
            time.sleep(STALE_S / _LOOKS)
            waited += 1
            now, done = _highest(store)
            if done:
                break
            if now != number or _beat_of(store, number) != before:
                raise _busy(store)
        number = _highest(store)[0]
    try:
        store.create(_place(number + 1, "json"), json.dumps({"by": __version__, "token": uuid4().hex}).encode())
    except FileExistsError:
        raise _busy(store) from None
    return number + 1


def _beat(store: Store, number: int, ended: threading.Event, beaten: list[float]) -> None:
    count = 0
    while not ended.wait(0 if count == 0 else BEAT_S):
        count += 1
        with suppress(OSError):
            began = time.monotonic()
            store.write(_place(number, "beat"), b"%d" % count)
            beaten[0] = began


def _highest(store: Store) -> tuple[int, bool]:
    """Return the number of the last lease (0: none), and whether it is done."""
    found = [match for name in store.names(LEASE) if (match := _NAME.fullmatch(name)) is not None]
    number = max((int(match[1]) for match in found), default=0)
    return number, any(int(match[1]) == number and match[2] == "done" for match in found)


def _beat_of(store: Store, number: int) -> bytes:
    try:
        return store.read(_place(number, "beat"), 64)
    except (FileNotFoundError, UnfitError):
        return b""


def _place(number: int, kind: str) -> str:
    return f"{LEASE}/{number:012}.{kind}"


def _busy(store: Store) -> PipelineError:
    return PipelineError(f"Another command is writing to the lake {store.place}; wait for its end.")
