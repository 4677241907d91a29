"""Clients of planned histories of services: destinations, applications, management, collections, queries, events.

A client has the ideal answers of a scene. It makes no call of an object of which the text tells nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from conformance.activex import scenes
from conformance.activex.expected import Readings
from conformance.activex.plans import Act, Plan
from conformance.activex.scene_coordinated import CoordinatedObjects, coordinated_objects
from conformance.activex.scene_events import EventObjects, event_objects
from conformance.activex.scene_services import DRIVER, ServiceObjects, service_objects
from conformance.activex.scenes import Place, with_texts
from conformance.activex.services import (
    APPLICATION,
    COLLECTION,
    DESTINATION,
    EVENT,
    MANAGEMENT,
    QUERY,
    QUEUE_INFOS,
)
from conformance.histories.operations.objects import objects_of
from conformance.verdict import Outcome, Verdict

OF_SERVICES: Final = "further"
OF_EVENTS: Final = "events"
OF_COORDINATED: Final = "coordinated"
Followed = ServiceObjects | EventObjects | CoordinatedObjects
STAGES: Final[Mapping[str, Callable[[Readings, Place], Followed]]] = {
    OF_SERVICES: service_objects,
    OF_EVENTS: event_objects,
    OF_COORDINATED: coordinated_objects,
}
"""Scenes by the name that an example has."""


class Served:
    """A client whose objects are followed by their scene."""

    def __init__(self, stage: str, beginning: Plan = ()) -> None:
        self.world: Followed = STAGES[stage]({}, scenes.IDEAL)
        self.plan: list[Act] = []
        self._count = 0
        for act in beginning:
            self.follow(act)

    def name(self, stem: str) -> str:
        """Return a name that no object has."""
        self._count += 1
        return f"{stem}{self._count}"

    def attempt(self, acts: Plan) -> bool:
        """Do some acts. Returns False, and does nothing, if the text does not tell what one of them answers."""
        before, done = self.world.copy(), len(self.plan)
        for act in acts:
            told = self.follow(act)
            owed = act.call is not None and self.world.classes.get(act.object) in _OF_TEXT
            if told is None or (owed and not told):
                self.world = before
                del self.plan[done:]
                return False
        return bool(acts)

    def follow(self, planned: Act) -> tuple[Verdict, ...] | None:
        """Do an act. Returns what its ideal answer shows; None if it names an object that is not there."""
        self.plan.append(planned)
        act = with_texts(planned, scenes.IDEAL.texts)
        if act.call is None and not act.passes_ms:
            return self.world.do(act, None)
        if act.call is not None and not all(map(self.world.knows, (act.object, *objects_of(act.call)))):
            return None
        verdicts = self.world.do(act, self.world.ideal(act))
        return verdicts if all(one.outcome is Outcome.PASS for one in verdicts) else None

    def objects(self, coclass: str) -> list[str]:
        """Return the objects of a class."""
        return [name for name, its in self.world.classes.items() if its == coclass]


_OF_TEXT: Final = frozenset({DESTINATION, APPLICATION, MANAGEMENT, COLLECTION, QUERY, QUEUE_INFOS, EVENT})


def needs(acts: Plan) -> frozenset[str]:
    """Return the methods of the plain facets that a history depends on: of a report alone it does not."""
    driven_by = {act.call.member for act in acts if act.object == DRIVER and act.call is not None}
    sinks = (
        {"objects.advise", "objects.unadvise", "objects.release"} if any(act.coclass == EVENT for act in acts) else ()
    )
    return frozenset({*driven_by, *sinks} - {"management.get"})
