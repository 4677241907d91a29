"""Alternatives of readings about outgoing queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.embedded.alternatives.base import follows
from conformance.embedded.entities import Queue
from conformance.embedded.outgoing import Outgoing

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager


@follows("hold-after-restart=kept", "outgoing")
class _KeepsHold(Outgoing):
    """A queue on hold when the queue manager stops is on hold after the next start."""

    def __init__(self, manager: Manager) -> None:
        super().__init__(manager)
        self._known: set[str] = set()  # the queues whose hold in the earlier process is already looked up

    def hold(self, queue: Queue) -> None:
        super().hold(queue)
        self._keep(queue)

    def let_go(self, queue: Queue) -> None:
        super().let_go(queue)
        self._keep(queue)

    def on_hold(self, queue: Queue) -> bool:
        if queue.id not in self._known:
            self._known.add(queue.id)
            queue.paused = self.manager.store.counter(f"hold {queue.id}", 0) == 1
        return super().on_hold(queue)

    def _keep(self, queue: Queue) -> None:
        self._known.add(queue.id)
        self.manager.store.set_counter(f"hold {queue.id}", int(queue.paused))


@follows("dispatch-order=as-written", Outgoing.ready)
def dispatch_order_as_written(plain, self, queue):
    """Within a priority the last message to come goes first: the text leaves the order open."""
    return sorted(plain(queue), key=lambda each: (-each.message.fields["priority"], -each.row))
