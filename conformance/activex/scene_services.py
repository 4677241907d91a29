"""The scene of plans about destinations, applications, management objects, collections and the dispenser of coordinated
transactions, with the queue objects and messages that bring something about.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from conformance.activex import application, destination, management, query, services_reference_answers, step
from conformance.activex.application import Application, Before
from conformance.activex.destination import Destination
from conformance.activex.effects import TELL_NOTHING
from conformance.activex.expected import Invoke, Readings, Seen
from conformance.activex.library import interfaces
from conformance.activex.management import Collected, Managed, Report
from conformance.activex.plans import Act
from conformance.activex.scenes import COMPUTER, MANAGER, Place
from conformance.activex.services import (
    APPLICATION,
    COLLECTION,
    COORDINATED,
    DESTINATION,
    MANAGEMENT,
    QUERY,
    QUEUE_INFOS,
    SEND,
    SERVICES,
    Computer,
    Directory,
    Handle,
    Info,
    Queue,
    cell,
)
from conformance.activex.step import ANY_STATUS, Choice, Option, Shape, called, one
from conformance.activex.transactions import IMPLEMENTATION, TRANSACTION
from conformance.activex.values import E_NOTIMPL, S_OK, Variant, hollow, text
from conformance.spec.constants import hresults
from conformance.verdict import Outcome, Verdict

DRIVER: Final = "$driver"
RESTART: Final = "restart"
"""The object of acts that call a method of the plain facets, with its parameters as JSON in a BSTR."""
PROFILE: Final = "$profile"
SINGLE_MESSAGE: Final = 3
_INFO, _QUEUE, _MESSAGE = "MSMQQueueInfo", "MSMQQueue", "MSMQMessage"
_LOOKS: Final = frozenset({"get", "QueryInterface", "Item", "EodGetSendInfo", "EodGetReceiveInfo"})
_OBJECT: Final = Shape(Variant("DISPATCH", "x"), lambda shown: bool(shown.value), "an object")
_NO_OBJECT: Final = Shape(Variant("DISPATCH"), hollow, "no object")
NEW: Final[Mapping[str, Any]] = {
    DESTINATION: Destination(),
    APPLICATION: Application(),
    MANAGEMENT: Managed(),
    COLLECTION: management.EMPTY,
    QUEUE_INFOS: query.Infos(),
}
"""Class to the state of an object that the client has just created."""


@dataclass(frozen=True, slots=True)
class Dispensed:
    """An MSMQTransaction of the dispenser of coordinated transactions. ended: by Abort. holds: a queue's key for each
    message that was received as part of it, with the member that did.
    """

    ended: bool = False
    holds: tuple[tuple[str, str], ...] = ()


def _of_transaction(its: Dispensed, call: Invoke) -> Iterator[Choice]:
    names = cell(COORDINATED, "BeginTransaction.method", "gives")
    if call.member == "QueryInterface":
        yield one(names, S_OK, _OBJECT)
    elif its.ended:
        yield one(names, step.ANY_FAILURE)
    else:
        yield one(names)


@dataclass(frozen=True, slots=True)
class Handed:
    """The answer of get ITransaction of an MSMQTransaction."""


def _of_interface(call: Invoke) -> Iterator[Choice]:
    if call.member == "QueryInterface" and call.arguments[0].value == interfaces()["ITransaction"].iid:
        yield one(cell(TRANSACTION, "ITransaction.get", "gives"), S_OK, _OBJECT)


@dataclass(slots=True)
class ServiceObjects:
    """Objects of a plan by name. reports: what the queue manager said of a queue, by its format name in small letters,
    and of itself as `machine`. numbers: handles that destinations have shown.

    words: those that the plan gives a name. entries: the objects of the directory. calls: object to the last call that
    may have changed it, or REFUSED.
    """

    readings: Readings
    world: Computer
    profile: str
    classes: dict[str, str] = field(default_factory=dict)
    states: dict[str, Any] = field(default_factory=dict)
    reports: dict[str, Report] = field(default_factory=dict)
    numbers: dict[int, Handle] = field(default_factory=dict)
    before: Before = field(default_factory=Before)
    words: dict[str, int] = field(default_factory=dict)
    entries: tuple[query.Entry, ...] = ()
    calls: Mapping[str, str] = field(default_factory=dict)

    def copy(self) -> ServiceObjects:
        """Return a scene that goes on from here by itself."""
        return replace(
            self,
            classes=dict(self.classes),
            states=dict(self.states),
            reports=dict(self.reports),
            numbers=dict(self.numbers),
            words=dict(self.words),
        )

    def knows(self, name: str) -> bool:
        """Tell whether the plan has an object of this name by now."""
        return name == DRIVER or name in self.classes

    def do(self, act: Act, seen: Seen | None) -> tuple[Verdict, ...]:
        """Judge the answer to an act, and keep what it leads to."""
        if act.call is None or seen is None:
            if act.call is None and act.coclass is not None:
                self._made(act.object, act.coclass)
            return ()
        if act.object == DRIVER:
            verdicts = tuple(self._transferred(act.call, seen))
            self._driven(act.call, seen)
            return verdicts
        call = self._resolved(act.call)
        told = [step.allowed(choice, self.readings) for choice in self._wanted(act.object, call)]
        verdicts = tuple(step.choice_verdicts(self.classes[act.object], call, told, seen))
        self._after(act, call, seen)
        self.calls = called(self.calls, act.object, call, seen)
        if act.gives is not None and act.gives.startswith("$") and seen.value is not None:
            self.words[act.gives] = int(seen.value.value or 0)
        elif act.gives is not None and not seen.gives:
            self.classes.pop(act.gives, None)
        return verdicts

    def ideal(self, act: Act) -> Seen:
        """Return an answer that the text allows."""
        assert act.call is not None
        if act.object == DRIVER:
            if act.call.member == "management.transfer":
                return Seen(S_OK, text(json.dumps(["packet"])))
            return self._reported(act.call) if act.call.member == "management.get" else Seen(S_OK)
        call = self._resolved(act.call)
        return step.reference_answer(step.allowed(choice, self.readings) for choice in self._wanted(act.object, call))

    def _reported(self, call: Invoke) -> Seen:
        """Return what a queue manager could say of a queue or of itself."""
        asked = json.loads(str(call.arguments[0].value))
        name = asked["target"].get("format_name")
        values = (
            services_reference_answers.of_machine(self.world)
            if name is None
            else services_reference_answers.of_queue(self.world, name)
        )
        if values is None:
            return Seen(hresults.MQ_ERROR_QUEUE_NOT_FOUND)
        told = [
            {"vt": 1} if values.get(one) is None else {"vt": 31, "value": values[one]} for one in asked["properties"]
        ]
        return Seen(S_OK, text(json.dumps(told)))

    def _resolved(self, call: Invoke) -> Invoke:
        """Return a call with the numbers that words of the plan stand for."""
        arguments = tuple(
            replace(one, value=self.words.get(one.value, 0)) if one.vt == "I8" and isinstance(one.value, str) else one
            for one in call.arguments
        )
        return replace(call, arguments=arguments)

    def _made(self, name: str, coclass: str) -> None:
        self.classes[name] = coclass
        self.calls = {key: last for key, last in self.calls.items() if key != name}
        if coclass == _INFO:
            self.world = replace(self.world, infos={**self.world.infos, name: Info()})
        if coclass in NEW:
            self.states[name] = NEW[coclass]

    def _wanted(self, name: str, call: Invoke) -> Iterable[Choice]:
        coclass, its = self.classes[name], self.states.get(name)
        if isinstance(its, Destination):
            return destination.demands(self.world, its, call, self.numbers)
        if isinstance(its, Managed):
            return management.demands(self.world, its, call, self.reports)
        if isinstance(its, Application):
            report = self.reports.get("machine")
            return application.demands(self.world, its, self.before, self.profile, call, report)
        if isinstance(its, Collected):
            return management.looked_up(its, call)
        if isinstance(its, Dispensed):
            return _of_transaction(its, call)
        if isinstance(its, Handed):
            return _of_interface(call)
        if isinstance(its, query.Infos):
            return query.demands(its, call)
        if isinstance(its, query.Found):
            return query.info_demands(its, self.states[its.infos], call)
        if coclass == QUERY:
            return query.looked_up(call)
        if coclass == COORDINATED:
            return self._dispensed(call)
        return self._helped(name, call)

    def _dispensed(self, call: Invoke) -> Iterator[Choice]:
        form = f"{call.member}.{call.kind}"
        if SERVICES[COORDINATED][call.member].unimplemented:
            yield one(cell(COORDINATED, form, "unimplemented"), E_NOTIMPL)
        else:
            names = cell(COORDINATED, form, "gives")
            yield (Option(names, S_OK, _OBJECT), Option((), step.ANY_FAILURE))

    def _helped(self, name: str, call: Invoke) -> Iterator[Choice]:
        """Yield what the objects of the other classes answer: their own suites judge it."""
        if call.member in ("Receive", "Peek") and name in self.world.opened:
            handle = self.world.opened[name]
            queue = self.world.queues.get(handle.key)
            if queue is not None and queue.messages:  # it fails by itself, unless it says that there is nothing
                success = cell(_QUEUE, f"{call.member}.method", "success")
                yield (Option(success, S_OK), *(Option((), code) for code in sorted(TELL_NOTHING)))
                yield (Option(queue.because, S_OK, _OBJECT),)
            elif queue is not None:
                yield (Option(queue.because, S_OK, _NO_OBJECT), Option(queue.because, step.ANY_FAILURE))
        elif call.member in ("Open", "BeginTransaction", "ITransaction", "Peek", "Receive"):
            yield one((), S_OK, _OBJECT)
        elif call.member == "Send":
            yield from self._sent(call)
        else:
            yield one((), ANY_STATUS)

    def _sent(self, call: Invoke) -> Iterator[Choice]:
        its = self.states.get(str(call.arguments[0].value))
        if isinstance(its, Destination) and its.handle is not None:
            yield one((*its.reopened, *its.because))
            return
        handle = self.world.opened.get(str(call.arguments[0].value))
        queue = None if handle is None or handle.access != SEND else self.world.queues.get(handle.key)
        alone = len(call.arguments) > 1 and call.arguments[1].value == SINGLE_MESSAGE
        plain = len(call.arguments) > 1 and call.arguments[1] == Variant("I4", 0)
        if queue is not None and (alone if queue.transactional else plain):
            yield one(cell("MSMQMessage", "Send.method", "success"))
        else:
            yield one((), ANY_STATUS)

    def _after(self, act: Act, call: Invoke, seen: Seen) -> None:
        name, its = act.object, self.states.get(act.object)
        if not (call.kind == "get" or call.member in _LOOKS):
            self.reports = {}
        if isinstance(its, Destination):
            self.world, self.states[name] = destination.after(self.world, its, name, call, seen, self.numbers)
        elif isinstance(its, Managed):
            if call.member == "EodGetSendInfo":
                self._collected(act, its, seen)
            elif call.member == "QueryInterface":
                if act.gives is not None and seen.status == S_OK:
                    self.classes[act.gives], self.states[act.gives] = MANAGEMENT, its
            else:
                self.world, self.states[name] = management.after(self.world, its, call, seen)
        elif isinstance(its, Application):
            self.world, self.states[name], self.before = application.after(self.world, its, self.before, call, seen)
        elif isinstance(its, Collected):
            self._looked(act, its, call, seen)
        elif isinstance(its, Dispensed):
            if call.member == "Abort" and seen.status == S_OK:
                self._aborted(its)
                self.states[name] = Dispensed(True)
        elif self.classes[name] == COORDINATED:
            if act.gives is not None and seen.gives:
                self.classes[act.gives], self.states[act.gives] = TRANSACTION, Dispensed()
        elif isinstance(its, query.Infos):
            self.states[name] = query.next_given(its, call, seen)
            if act.gives is not None and seen.gives:
                self.classes[act.gives], self.states[act.gives] = _INFO, query.Found(name)
        elif isinstance(its, query.Found):
            self._named_entry(name, its, call, seen)
        elif self.classes[name] == QUERY:
            self._queried(act, call, seen)
        elif seen.status == S_OK:
            self._did(act, call, seen)

    def _queried(self, act: Act, call: Invoke, seen: Seen) -> None:
        if act.gives is not None and seen.gives:
            found, perhaps = query.results(call, self.entries)
            infos = query.Infos(True, found, perhaps, names=query.named(call))
            self.classes[act.gives], self.states[act.gives] = QUEUE_INFOS, infos

    def _named_entry(self, name: str, its: query.Found, call: Invoke, seen: Seen) -> None:
        if call.member != "FormatName" or its.entry is not None or seen.value is None:
            return
        shown = str(seen.value.value or "").casefold()
        infos = self.states[its.infos]
        left = (one for one in (*infos.found, *infos.perhaps) if one.guid not in infos.told)
        entry = next((one for one in left if one.is_named(shown)), None)
        if entry is not None:
            self.states[name] = query.Found(its.infos, entry)
            self.states[its.infos] = replace(infos, told=(*infos.told, entry.guid))

    def _collected(self, act: Act, its: Managed, seen: Seen) -> None:
        report = self.reports.get(its.asked)
        if act.gives is None or not seen.gives:
            return
        told = report if isinstance(report, Mapping) else None
        self.classes[act.gives], self.states[act.gives] = COLLECTION, management.collected(told)
        self.states[f"{act.gives} report"] = told

    def _looked(self, act: Act, its: Collected, call: Invoke, seen: Seen) -> None:
        if call.member == "Item" and act.gives is not None and seen.gives:
            told = self.states.get(f"{act.object} report")
            found = management.sequence(str(call.arguments[0].value), told)
            self.classes[act.gives] = COLLECTION
            self.states[act.gives] = found or Collected({}, {}, None)
            if found is None:
                del self.states[act.gives]

    def _did(self, act: Act, call: Invoke, seen: Seen) -> None:
        name, world = act.object, self.world
        info = world.infos.get(name)
        if act.gives is not None and seen.gives and call.member.startswith(("Peek", "Receive")):
            self.classes[act.gives] = "MSMQMessage"
        if info is not None:
            self._with_info(act, call, info)
        elif call.member == "Close":
            self.world = world.without_opened(name)
        elif call.member == "BeginTransaction" and act.gives is not None and seen.gives:
            self.classes[act.gives] = TRANSACTION
        elif call.member == "ITransaction" and act.gives is not None and seen.gives:
            self.classes[act.gives], self.states[act.gives] = IMPLEMENTATION, Handed()
        elif call.member.startswith("Receive") and name in world.opened and seen.gives:
            self._received(world.opened[name], call)
        elif call.member in ("Handle", "Handle2") and name in world.opened and seen.value is not None:
            self.numbers[int(seen.value.value or 0)] = world.opened[name]
        elif call.member == "Send":
            target = str(call.arguments[0].value)
            its = self.states.get(target)
            handle = world.opened.get(target)
            if handle is not None:
                because = (*its.reopened, *its.because) if isinstance(its, Destination) else ()
                single = call.arguments[1].value == SINGLE_MESSAGE
                self.world = world.sent(handle, because, transactional=single)

    def _received(self, handle: Handle, call: Invoke) -> None:
        of = next((str(one.value) for one in call.arguments if one.vt == "DISPATCH"), "")
        its = self.states.get(of)
        if isinstance(its, Dispensed) and handle.key:
            queue = self.world.queues[handle.key]
            self.world = self.world.with_queue(handle.key, replace(queue, messages=queue.messages - 1))
            self.states[of] = replace(its, holds=(*its.holds, (handle.key, call.member)))
        else:
            self.world = self.world.received(handle)

    def _aborted(self, its: Dispensed) -> None:
        """Put back what an aborted transaction holds: a look at the queue shows it."""
        for key, member in its.holds:
            queue = self.world.queues[key]
            enlists = cell("MSMQQueue", f"{member}.method", "locks", "enlists")
            aborts = tuple(
                name for one in (TRANSACTION, IMPLEMENTATION) for name in cell(one, "Abort.method", "aborts")
            )
            because = (*enlists, *aborts)
            self.world = self.world.with_queue(key, replace(queue, messages=queue.messages + 1, because=because))

    def _with_info(self, act: Act, call: Invoke, info: Info) -> None:
        name, world = act.object, self.world
        value = call.arguments[0].value if call.arguments else None
        if call.member == "PathName":
            info = replace(info, path=str(value), format=None)
        elif call.member == "FormatName" and call.kind == "put":
            info = replace(info, format=str(value), path=None)
        elif call.member == "Journal":
            info = replace(info, journal=bool(value))
        elif call.member == "Label" and call.kind == "put":
            info = replace(info, label=str(value or ""))
        self.world = replace(world, infos={**world.infos, name: info})
        target = world.target(info.path, info.format)
        if call.member == "Create":
            transactional = call.arguments[0].vt == "BOOL" and bool(value)
            queue = Queue(info.path or "", transactional, info.journal)
            self.world = self.world.with_queue(target.key, queue)
            if target.public and world.directory is not None:
                self.entries += (query.Entry("", path=info.path or "", label=info.label),)
        elif call.member == "Delete":
            left = {key: queue for key, queue in world.queues.items() if key != target.key}
            opened = {key: handle for key, handle in world.opened.items() if handle.key != target.key}
            self.world = replace(self.world, queues=left, opened=opened)
            gone = (info.path or "").casefold()
            self.entries = tuple(one for one in self.entries if one.guid or one.path.casefold() != gone)
        elif call.member == "Open" and act.gives is not None:
            access = int(call.arguments[0].value)
            handle = world.opens(info.path, info.format, access)
            self.classes[act.gives] = _QUEUE
            if handle is not None:
                self.world = self.world.with_opened(act.gives, handle)

    def _transferred(self, call: Invoke, seen: Seen) -> Iterator[Verdict]:
        """Yield the verdict on what goes over the connection after EodResend: what waits for an acknowledgment."""
        if call.member != "management.transfer" or seen.status != S_OK or seen.value is None:
            return
        queue = self.world.outgoing.get(json.loads(str(call.arguments[0].value))["format_name"].casefold())
        if queue is not None and queue.resent:
            self.world = self.world.with_outgoing(replace(queue, resent=False))
            packets = len(json.loads(str(seen.value.value)))
            outcome = Outcome.PASS if packets else Outcome.FAIL
            for name in management.named("EodResend.method", "does"):
                yield Verdict(name, outcome, f"{MANAGEMENT}.EodResend", "packets", {"packets": packets})

    def _driven(self, call: Invoke, seen: Seen) -> None:
        """Keep what a method of the plain facets told, and forget reports after one that may change something."""
        asked = json.loads(str(call.arguments[0].value or "{}"))
        if call.member != "management.get":
            self.reports = {}
            if call.member == "harden":
                self.world = replace(self.world, hardened=asked["hardened"])
            elif call.member == "directory" and seen.status == S_OK:
                self._directory(asked)
            elif call.member == "management.connection" and seen.status == S_OK:
                queue = self.world.outgoing.get(str(asked["format_name"]).casefold())
                if queue is not None:
                    self.world = self.world.with_outgoing(replace(queue, step=str(asked["step"])))
            return
        target = asked["target"]
        key = str(target.get("format_name", "machine")).casefold()
        if seen.status != S_OK:
            self.reports[key] = seen.status
        elif seen.value is not None:
            told = json.loads(str(seen.value.value or "[]"))
            self.reports[key] = {
                number: one.get("value")
                for number, one in zip(asked["properties"], told, strict=False)
                if one.get("vt") not in (0, 1) or key == "machine"
            }

    def _directory(self, asked: Mapping[str, Any]) -> None:
        self.entries = tuple(map(query.Entry.from_json, asked["objects"]))
        formats = {"queue": "PUBLIC={}", "distribution_list": "DL={}"}
        ads = {
            one.ads: (one.sort, formats[one.sort].format(one.guid) if one.sort in formats else one.format)
            for one in self.entries
            if one.ads
        }
        queues = [one for one in self.entries if one.sort == "queue"]
        paths = {one.path.casefold(): f"PUBLIC={one.guid}" for one in queues}
        computers = {str(one["name"]): str(one["guid"]).lower() for one in asked.get("computers", ())}
        directory = Directory(ads, paths, computers, asked.get("server"))
        self.world = replace(self.world, directory=directory)


def service_objects(readings: Readings, place: Place) -> ServiceObjects:
    """Return the scene before the first act of a plan."""
    world = Computer(place.texts[COMPUTER], place.texts[MANAGER])
    return ServiceObjects(readings, world, place.texts.get(PROFILE, "msmq-4.0"))


def driven(method: str, **params: Any) -> Act:
    """Return the act that calls a method of the plain facets."""
    return Act(DRIVER, Invoke(method, "method", (text(json.dumps(params)),)))
