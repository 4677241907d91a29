"""The scene of plans about MSMQQueueInfo: its objects, and the queues that they create, change and delete."""

from __future__ import annotations

from dataclasses import dataclass, field

from conformance.activex import choices, queue_effects
from conformance.activex.expected import Held, Readings, Seen
from conformance.activex.ideal import Objects
from conformance.activex.ideal import ideal as ideal_of_table
from conformance.activex.plans import Act
from conformance.activex.queue_info import MEMBERS, wanted
from conformance.activex.queue_store import Info, Store
from conformance.activex.scenes import COMPUTER, MANAGER, Place
from conformance.activex.states import OPENED
from conformance.activex.statuses import S_OK
from conformance.activex.tables_queue_info import COCLASS
from conformance.verdict import Verdict


@dataclass(slots=True)
class QueueInfos:
    """Objects of a plan by their names. tables: those that their tables alone tell of."""

    readings: Readings
    store: Store
    infos: dict[str, Info] = field(default_factory=dict)
    tables: Objects = field(init=False)

    def __post_init__(self) -> None:
        self.tables = Objects(self.readings)

    def do(self, act: Act, seen: Seen | None) -> tuple[Verdict, ...]:
        """Judge the answer to an act, and keep what it leads to."""
        if act.call is None and act.coclass == COCLASS:
            self.infos[act.object] = queue_effects.new_info()
        if act.call is None or seen is None or not self._is_ours(act):
            verdicts = self.tables.do(act, seen)
            if act.call is not None and act.call.member == "Close" and seen is not None and seen.status == S_OK:
                self.store = queue_effects.closed(self.store, act.object)
            return verdicts
        info = self.infos[act.object]
        told = tuple(wanted(info, self.store, act.call, self.readings))
        verdicts = tuple(choices.verdicts(COCLASS, act.call, told, seen))
        after = queue_effects.after(info, self.store, act.call, seen, self.readings, act.gives)
        self.infos[act.object], self.store = after
        if act.call.member == "Open" and act.gives is not None and seen.status == S_OK:
            self.tables.held[act.gives] = Held("MSMQQueue", OPENED)
        return verdicts

    def ideal(self, act: Act) -> Seen:
        """Return an answer that the text allows."""
        assert act.call is not None
        if self._is_ours(act):
            return choices.ideal(wanted(self.infos[act.object], self.store, act.call, self.readings))
        return ideal_of_table(self.tables.held[act.object], act.call)

    def _is_ours(self, act: Act) -> bool:
        return act.object in self.infos and act.call is not None and not MEMBERS[act.call.member].unimplemented


def queue_infos(readings: Readings, place: Place) -> QueueInfos:
    """Return the scene before the first act of a plan."""
    return QueueInfos(readings, Store(place.texts[COMPUTER], place.texts[MANAGER], place.now))
