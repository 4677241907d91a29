"""Tour of acknowledgments: each set of kinds asked for, each way a message can end, from a queue and from its subqueue.

MS-MQDMPR 3.1.1.12, 3.1.7.1.4, 3.1.7.1.7, 3.1.7.2.1 and 3.1.7.2.7. After each step the administration queue is read.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Final

from conformance.histories.operations.operation import Action, Offer, action
from conformance.histories.operations.state_queries import handles, listed, message_name
from conformance.histories.operations.state_queries import working_transactions as working
from conformance.histories.operations.table import ACTIONS
from conformance.histories.tour import Tour
from conformance.histories.tours_management import OWN
from conformance.model import Call, State

_ADMIN: Final = "adm"
_READER: Final = "ra"
_KINDS: Final = ("positive_arrival", "positive_receive", "negative_arrival", "negative_receive")
_ASKED: Final = tuple("+".join(kinds) for size in (2, 1, 3, 4) for kinds in combinations(_KINDS, size))
_MOST_MESSAGES: Final = 10


def posts(state: State) -> list[Call]:
    """Send a message that asks for some kinds of acknowledgments, and ends by itself after some time or never."""
    if sum(one.available for queue in state.queues.values() for one in queue.positions) >= _MOST_MESSAGES:
        return []
    name, sent = message_name(state), sum(len(queue.positions) for queue in state.queues.values())
    return [
        listed(
            "messages.send",
            message=name,
            handle=handle.name,
            transaction=transaction,
            acks=_ASKED[(sent + at) % len(_ASKED)],
            admin=_ADMIN,
            live_s=(None, 4)[(sent + at) // 2 % 2],
        )
        for handle in handles(state, "send")
        for transaction in (working(state) if state.queues[handle.queue].transactional else (None,))
        for at in (0, 1, 4, 7)
    ]


class _Reading:
    """Reads the administration queue until it is empty; opens it again where a restart has closed it."""

    def __call__(self, state: State) -> list[Call]:
        reader = state.handles.get(_READER)
        if reader is None or not reader.is_open:
            return [Call("queues.open", name=_READER, queue=_ADMIN, access="receive")]
        left = sum(one.available for one in state.queues[_ADMIN].positions)
        return [Call("messages.receive", handle=_READER)] * (left + 1)


def _sparing(each: Action) -> Action:
    """Return an action that leaves the administration queue and its reader alone."""

    def choose(state: State, offer: Offer) -> list[Call]:
        return [call for call in each.choose(state, offer) if call.queue != _ADMIN and call.handle != _READER]

    return replace(each, choose=choose)


def acknowledged(*, restarts: bool) -> Tour:
    """Return the tour. restarts: the manager can be restarted."""
    own = {one.name: one for one in (*OWN, action("post_asking", posts, "messages.send"))}
    wanted = (
        *(
            "post_asking",
            "post_asking",
            "post_asking",
            "post_asking",
            "receive",
            "receive",
            "begin_receive",
            "end_receive",
        ),
        *("begin", "begin", "end", "end", "peek", "move", "move", "purge", "pass_seconds", "open_again", "delete"),
        *("create_again", "close", *(("restart_now",) if restarts else ())),
    )
    return Tour(
        (
            Call("clock.now"),
            Call("queues.create", queue=_ADMIN),
            Call("queues.open", name=_READER, queue=_ADMIN, access="receive"),
            Call("queues.create", queue="q1"),
            Call("queues.create", queue="q2", transactional=True),
            *(
                Call("queues.open", name=f"{access[0]}{queue[1]}", queue=queue, access=access)
                for queue in ("q1", "q2")
                for access in ("send", "receive")
            ),
            Call("queues.open", name="h1", queue="q1;one", access="move"),
            Call("messages.send", message="a", handle="s1", acks="negative_receive", admin=_ADMIN),
            *(Call("messages.peek", handle="r1"), Call("messages.peek", handle="r1")),
        ),
        tuple(_sparing(own.get(name) or ACTIONS[name]) for name in wanted),
        _Reading,
        steps=220,
        late=frozenset({"restart_now", "delete", "create_again", "close"}),
        dear=frozenset({"restart_now"}),
        length=16,
    )
