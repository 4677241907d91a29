"""Examples that are played ahead of their tests, beside one another, each on a client of its own.

A dialogue with a queue manager mostly waits. What it says depends on its own sessions alone, so that several go on at
the same time. Tests still come in their order: each takes the example that was played for it, or plays it itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from conformance.adapter.errors import AdapterError
from conformance.files import scratch
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.tape import Example, Tape
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

MOST = 8
"""Examples that are played ahead at the same time."""
MOST_VERDICTS = 400_000
"""Verdicts that wait for their tests before no more is played ahead: a server that floods has thousands a dialogue."""
Told = Callable[[str, Mapping[str, Any] | None], None]


@dataclass(frozen=True, slots=True)
class Part:
    """The one example of a test. kind: of its repro file; data: makes the rest of it. play: yields the verdicts.

    lasts_ms: about how long it takes; what takes longest begins first.
    """

    kind: str
    data: Callable[[], Mapping[str, Any]]
    play: Callable[[Port, RunOptions, Mapping[str, Any], Told], Iterator[Verdict]]
    lasts_ms: int = 0


@dataclass(slots=True)
class Played:
    """An example that was played. error: ended it, behind its verdicts. example: its calls. heard: bytes of answers."""

    data: Mapping[str, Any]
    told: list[tuple[str, Mapping[str, Any] | None]] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    error: BaseException | None = None
    example: Example | None = None
    heard: int = 0


class Ahead:
    """Plays the examples of later tests. Use it from one thread, and `close` it."""

    def __init__(
        self, open_client: Callable[[Path], Client], parts: Mapping[str, Part], options: RunOptions, until: float
    ) -> None:
        """open_client: makes a client of the implementation; as many are made as it has room for.

        parts: by the id of their tests. until: `time.monotonic()` after which no call is made any more.
        """
        self._options, self._until, self._over = options, until, False
        self._folders = ExitStack()
        self._clients: SimpleQueue[Client] = SimpleQueue()
        self._all: list[Client] = []
        self._busy: set[GuardedClient] = set()
        self._work: dict[str, Future[Played | None]] = {}
        self._waiting: dict[int, int] = {}
        try:
            while len(self._all) < min(MOST, len(parts) - 1):
                self._all.append(open_client(self._folders.enter_context(scratch("mqconform-ahead-"))))
        except AdapterError:
            pass  # It has room for no more.
        for one in self._all:
            self._clients.put(one)
        self._pool = ThreadPoolExecutor(len(self._all) or 1, "ahead")
        if self._all:
            longest = sorted(parts, key=lambda node: -parts[node].lasts_ms)
            self._work = {node: self._pool.submit(self._played, parts[node]) for node in longest}

    def taken(self, node: str) -> Played | None:
        """Return the example of a test, once it has been played; None if the test has to play it."""
        work = self._work.pop(node, None)
        played = None if work is None or work.cancel() else work.result()
        self._waiting.pop(id(played), None)
        return played

    def close(self) -> None:
        """End what is being played, and close the clients."""
        self._over = True
        for one in tuple(self._busy):
            one.stop()
        self._pool.shutdown(cancel_futures=True)
        for client in self._all:
            client.close()
        self._folders.close()

    def _played(self, part: Part) -> Played | None:
        if sum(tuple(self._waiting.values())) > MOST_VERDICTS:
            return None
        played = Played(part.data())
        tape = Tape(set(), lambda example: None)

        def heard(size: int) -> None:
            played.heard += size

        client = self._clients.get()
        port = GuardedClient(client, skips=True, tape=tape, heard=heard, until=self._until)
        self._busy.add(port)
        if self._over:
            port.stop()
        tape.begin(part.kind, played.data)
        try:
            for verdict in part.play(port, self._options, played.data, lambda *told: played.told.append(told)):
                played.verdicts.append(verdict)
        except BaseException as error:  # The test that it belongs to raises it.
            played.error = error
        finally:
            self._busy.discard(port)
            self._clients.put(client)
        played.example = tape.example
        self._waiting[id(played)] = len(played.verdicts)
        return played


def play(part: Part, mq: Port, judge: Recorder) -> None:
    """Record the verdicts of an example that was played ahead, or play it now. Raises what has ended it."""
    played = judge.ahead()
    if played is None:
        data = part.data()
        judge.begin_example(part.kind, data)
        for verdict in part.play(mq, judge.options, data, judge.step):
            judge.record(verdict)
        return
    judge.begin_example(part.kind, played.data)
    judge.heard(played.heard)
    if judge.tape is not None and played.example is not None:
        judge.tape.take_over(played.example)
    for told in played.told:
        judge.step(*told)
    for verdict in played.verdicts:
        judge.record(verdict)
    if played.error is not None:
        raise played.error
