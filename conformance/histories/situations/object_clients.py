"""Clients of planned histories of objects: they make its acts, and know in which situation each call is.

A client has ideal answers to its calls. The calls of a queue's reads and of a message's properties are followed by the
world of objects, all others by the scene of a client's objects.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Final, Protocol

from conformance.activex import scenes
from conformance.activex.expected import Held, Seen
from conformance.activex.plans import Act, Plan
from conformance.activex.reference_answers import Objects
from conformance.activex.scene_client import ClientObjects, client_objects
from conformance.activex.service_features import ON, ROWS, is_call_of
from conformance.activex.tables import RECEIVED
from conformance.activex.values import S_OK, Variant
from conformance.activex.walk import Walk
from conformance.activex.world import World
from conformance.histories.features.objects import MEMBERS, vector
from conformance.histories.situations.object_book import Planned, space
from conformance.histories.situations.service_clients import STAGES as SERVICE_STAGES
from conformance.histories.situations.service_clients import Served
from conformance.verdict import Outcome

CLIENT: Final = "client"
_CHANGE_NO_QUEUE: Final = frozenset(
    {"Refresh", "Update", "AttachCurrentSecurityContext", "AttachCurrentSecurityContext2"}
)
_MESSAGE: Final = "MSMQMessage"


class Client(Protocol):
    """The planner's acts with a client."""

    @property
    def world(self) -> World: ...

    @property
    def plan(self) -> list[Act]: ...

    def attempt(self, acts: Plan) -> bool:
        """Do some acts. Returns False, and does nothing, if one leads where nothing is known."""

    def name(self, stem: str) -> str:
        """Return a name that no object has."""


class Followed:
    """A client whose objects are followed by their scene; the world follows what succeeds, as far as it can.

    A Send that may fail as well leaves its queue in doubt, and a message that a read finds there is used no more: the
    history goes on under each accepted reading.
    """

    def __init__(self, beginning: Plan) -> None:
        self._objects, self._count = Objects({}), 0
        self._scene: ClientObjects = client_objects({}, scenes.IDEAL)
        self._doubtful: frozenset[str] = frozenset()  # keys of queues, and names of objects
        self.plan: list[Act] = []
        if beginning and not self.attempt(beginning):
            raise ValueError("the scene of a client's objects does not know how this begins")

    @property
    def world(self) -> World:
        return self._objects.world

    def name(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def attempt(self, acts: Plan) -> bool:
        before, done, scene, doubtful = self._objects.world, len(self.plan), self._scene.copy(), self._doubtful
        for act in acts:
            if not self._do(act):
                self._objects.world, self._scene, self._doubtful = before, scene, doubtful
                del self.plan[done:]
                return False
        return bool(acts)

    def _do(self, planned: Act) -> bool:
        act = scenes.with_texts(planned, scenes.IDEAL.texts)
        self.plan.append(planned)
        if act.call is None:
            self._scene.do(act, None)
            self._objects.do(planned, None)
            return True
        if not self._scene.knows(act.object) or act.object in self._doubtful:
            return False
        seen = self._scene.ideal(act)
        self._doubt(act)
        if any(verdict.outcome is not Outcome.PASS for verdict in self._scene.do(act, seen)):
            return False
        if seen.status == S_OK:
            self._follow(planned)
        return True

    def _doubt(self, act: Act) -> None:
        """Keep which queue may lack what the scene has in it, and which object a read of it may not hand out."""
        assert act.call is not None
        posts, sends = self._scene.posts, act.call.member == "Send"
        key, _ = posts.opened.get(str(act.call.arguments[0].value) if sends else act.object, ("", 0))
        if sends and self._scene.is_open(act):
            self._doubtful |= {key}
        elif key in self._doubtful and not posts.boxes.get(key):
            self._doubtful -= {key}
        elif key in self._doubtful and act.gives is not None:
            self._doubtful |= {act.gives}

    def _follow(self, act: Act) -> None:
        assert act.call is not None
        world = self._objects.world
        if world.known.held[act.object].coclass == "MSMQQueue" and act.call.member in ("Receive", "Peek"):
            held = {**world.known.held, act.gives or "": Held(_MESSAGE, RECEIVED)}
            self._objects.world = replace(world, known=replace(world.known, held=held))
            return
        value = None if act.gives is None else Variant("DISPATCH", act.gives)
        self._objects.do(act, Seen(S_OK, value))
        if act.call.member in _CHANGE_NO_QUEUE:
            self._objects.world = replace(self._objects.world, lost=world.lost)


def replayed(planned: Planned) -> tuple[frozenset[int], ...]:
    """Return the numbers of all situations that each act of a history meets. Raises ValueError if it cannot be done."""
    found: list[frozenset[int]] = []
    client = _empty(planned.stage)
    row = MEMBERS[planned.member]
    on = ON.get((row.coclass, row.name), row.coclass)
    for act in planned.acts:
        named = is_call_of(row, act) if row in ROWS else act.call is not None and act.call.member == row.name
        calls = named and class_of(client, act.object) == on
        met = space().numbers(planned.member, vector(planned.member, client.world, act)) if calls else ()
        found.append(frozenset(met))
        done = client.follow(act) is not None if isinstance(client, Served) else client.attempt((act,))
        if not done:
            raise ValueError(f"a history of {planned.member} leads where nothing is known: {act}")
    return tuple(found)


def _empty(stage: str) -> Client | Served:
    if stage in SERVICE_STAGES:
        return Served(stage)
    return Followed(()) if stage == CLIENT else Walk(Random(0), ())


def class_of(client: Client | Served, name: str) -> str | None:
    """Return the class of an object; None for one that the client has not got."""
    if isinstance(client, Served):
        return client.world.classes.get(name)
    its = client.world.known.held.get(name)
    return its.coclass if its is not None else None
