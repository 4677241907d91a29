"""The scene of plans about what a client makes: queue infos, transactions, queue properties of messages.

All other members of these objects are judged by their tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from conformance.activex import choices, message_queues, queue_effects, queue_info, transactions
from conformance.activex.choices import Choice
from conformance.activex.expected import Held, Invoke, Readings, Seen
from conformance.activex.ideal import ideal as ideal_of_table
from conformance.activex.plans import Act
from conformance.activex.queue_store import Info, Store
from conformance.activex.scenes import COMPUTER, MANAGER, Place
from conformance.activex.states import OPENED
from conformance.activex.statuses import S_OK
from conformance.activex.step import new, step
from conformance.activex.tables import CLASSES
from conformance.activex.tables_queue_info import COCLASS
from conformance.activex.transactions import DISPENSER, TRANSACTION, Transactions
from conformance.activex.values import text
from conformance.verdict import Verdict


@dataclass(slots=True)
class ClientObjects:
    """Objects of a plan by their names. classes: name to class. held: those that their tables alone tell of."""

    readings: Readings
    store: Store
    classes: dict[str, str] = field(default_factory=dict)
    infos: dict[str, Info] = field(default_factory=dict)
    messages: message_queues.Messages = field(default_factory=dict)
    transactions: Transactions = field(default_factory=Transactions)
    held: dict[str, Held] = field(default_factory=dict)

    def do(self, act: Act, seen: Seen | None) -> tuple[Verdict, ...]:
        """Judge the answer to an act, and keep what it leads to."""
        if act.call is None or seen is None:
            self._made(act.object, act.coclass or "")
            return ()
        told = self._wanted(act.object, act.call)
        if told is None:
            self.held[act.object], verdicts = step(self.held[act.object], act.call, seen, self.readings)
            if act.call.member == "Close" and seen.status == S_OK:
                self.store = queue_effects.closed(self.store, act.object)
            return verdicts
        verdicts = tuple(choices.verdicts(self.classes[act.object], act.call, told, seen))
        self._after(act, act.call, seen)
        return verdicts

    def ideal(self, act: Act) -> Seen:
        """Return an answer that the text allows."""
        assert act.call is not None
        told = self._wanted(act.object, act.call)
        if told is None:
            return ideal_of_table(self.held[act.object], act.call)
        return choices.ideal(told)

    def _made(self, name: str, coclass: str) -> None:
        self.classes[name] = coclass
        if coclass in CLASSES:
            self.held[name] = new(coclass)
        if coclass == COCLASS:
            self.infos[name] = queue_effects.new_info()

    def _wanted(self, name: str, call: Invoke) -> list[Choice] | None:
        """Return what the answer has to be; None for what the tables tell."""
        coclass = self.classes[name]
        if coclass == message_queues.DESTINATION:
            return list(_destination(self.infos.get(name), call))
        if CLASSES[coclass][call.member].unimplemented:
            return None
        told: Iterable[Choice]
        if coclass == COCLASS:
            told = queue_info.wanted(self.infos[name], self.store, call, self.readings)
        elif coclass in (TRANSACTION, DISPENSER):
            told = transactions.wanted(name, self.transactions, call, self._known(), self.readings)
        elif coclass == message_queues.COCLASS and call.member in message_queues.MEMBERS:
            told = message_queues.wanted(name, self.messages, self.store, call, self._known(), self.readings)
        else:
            return None
        return list(told)

    def _known(self) -> tuple[str, ...]:
        return (*self.classes, *self.transactions.handles)

    def _after(self, act: Act, call: Invoke, seen: Seen) -> None:
        name, coclass = act.object, self.classes[act.object]
        handed = act.gives is not None and seen.status == S_OK
        if coclass == COCLASS:
            after = queue_effects.after(self.infos[name], self.store, call, seen, self.readings, act.gives)
            self.infos[name], self.store = after
            if handed and call.member == "Open":
                self._hold(act.gives, "MSMQQueue", OPENED)
        elif coclass in (TRANSACTION, DISPENSER):
            self.transactions = transactions.after(name, self.transactions, call, seen, act.gives)
            if handed and call.member == "BeginTransaction":
                self._hold(act.gives, TRANSACTION, "Attached")
        elif coclass == message_queues.DESTINATION:
            if call.kind == "put" and seen.status == S_OK:
                self.infos[name] = Info(format=call.arguments[0].value)
        elif call.kind == "putref" and seen.status == S_OK:
            info = self.infos.get(call.arguments[0].value or "")
            self.messages = message_queues.put(name, self.messages, call, info)
        elif handed:
            info = message_queues.given(name, self.messages, self.store, call)
            if info is not None and act.gives is not None:
                self.infos[act.gives] = info
                kind = message_queues.DESTINATION if call.member == "ResponseDestination" else COCLASS
                self._hold(act.gives, kind, "Refreshed")

    def _hold(self, name: str | None, coclass: str, state: str) -> None:
        assert name is not None
        self.classes[name] = coclass
        self.held[name] = Held(coclass, state)


def _destination(info: Info | None, call: Invoke) -> Iterator[Choice]:
    if call.kind == "get" and call.member == "FormatName" and info is not None and info.because:
        yield choices.one(info.because, S_OK, text(info.format or ""))


def client_objects(readings: Readings, place: Place) -> ClientObjects:
    """Return the scene before the first act of a plan."""
    return ClientObjects(readings, Store(place.texts[COMPUTER], place.texts[MANAGER], place.now))
