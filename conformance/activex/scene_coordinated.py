"""The scene of objects that work in transactions of a coordinator: MC-MQAC 2.2.2.1, 3.7, 3.8, 3.11.4.1, 3.17.4.1.48.

It has one transactional queue with its messages, the transactions that hold some of them, and what the coordinator is
owed to be asked. Acts of `$driver` are the calls of the facet `coordinator`, with which mqconform plays it.
"""

from __future__ import annotations

import json
import struct
import uuid
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Final

from conformance.activex import step
from conformance.activex.expected import Invoke, Readings, Seen
from conformance.activex.library import interfaces
from conformance.activex.plans import Act
from conformance.activex.queue_store import Names
from conformance.activex.scene_services import DRIVER
from conformance.activex.scenes import REQUESTS, Place
from conformance.activex.services import COORDINATED, cell
from conformance.activex.step import ANY_FAILURE, ANY_STATUS, Choice, Option, Shape, one
from conformance.activex.tables import CLASSES
from conformance.activex.transactions import IMPLEMENTATION, TRANSACTION
from conformance.activex.values import MISSING, S_OK, Variant, failed, hollow, octets, text
from conformance.spec.constants import hresults
from conformance.verdict import Outcome, Verdict

MTS, XA, SINGLE = 1, 2, 3
ENLIST: Final = "coordinator.enlist"
PERFORMED: Final = "MQAC-2.2.2.1.mq-mts-transaction-operation-msdtc-performed"
CALLER: Final = "MQAC-3.11.server-client-transaction-use"
REFUSED: Final = "MQMP-3.1.4.13.failure"
ENLISTED: Final = "MQMP-3.1.4.13.created"
CODES: Final[Mapping[str, tuple[str, int]]] = {
    "connect": ("MQMQ-2.4.mq-error-dtc-connect", hresults.MQ_ERROR_DTC_CONNECT),
    "import": ("MQMQ-2.4.mq-error-transaction-import", hresults.MQ_ERROR_TRANSACTION_IMPORT),
    "enlist": ("MQMQ-2.4.mq-error-transaction-enlist", hresults.MQ_ERROR_TRANSACTION_ENLIST),
}
"""Requests that are refused when the manager is to take part, with the code of MS-MQMQ 2.4."""
_INFORMATION: Final = {"isolation_level": 0x100000, "isolation_flags": 4, "supported": 2}
_DISPENSERS: Final = (COORDINATED, "MSMQTransactionDispenser")
_SIZE, _NUMBERS = 40, struct.Struct("<iII12x")
_NOTHING: Final = Shape(Variant("DISPATCH"), hollow, "no object")
_THERE, _GONE = "", "gone"


@dataclass(frozen=True, slots=True)
class Work:
    """A transaction. identifier: the coordinator's, None where nobody has told it. external: the coordinator ends it.

    joined: the manager takes part in it. names: what an end shows. info: the bytes that GetTransactionInfo gave last.
    """

    identifier: str | None = None
    external: bool = True
    joined: bool = False
    ended: bool = False
    names: Names = ()
    info: bytes | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A request that the coordinator has to get. of: the transaction. names: the requirements that say so."""

    what: str
    of: str
    names: Names


@dataclass(slots=True)
class CoordinatedObjects:
    """Objects of a plan by name, and the messages of its queue in their order.

    places: message to the transaction that has received it, `sent` before one that has sent it, _THERE or _GONE.
    because, ends: message to what a look at it shows now, and after the end of its transaction. looked: objects that
    were given, to their message or transaction. marks: lookup identifiers of messages. known: identifiers that the
    coordinator has given. lost: the driver has refused a call of the coordinator, so nothing is known any more.
    """

    readings: Readings
    classes: dict[str, str] = field(default_factory=dict)
    works: dict[str, Work] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    because: dict[str, Names] = field(default_factory=dict)
    ends: dict[str, Names] = field(default_factory=dict)
    looked: dict[str, str] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)
    asked: tuple[Request, ...] = ()
    refused: frozenset[str] = frozenset()
    context: str | None = None
    known: frozenset[str] = frozenset()
    lost: bool = False

    def copy(self) -> CoordinatedObjects:
        """Return a scene that goes on from here by itself."""
        return deepcopy(self)

    def knows(self, name: str) -> bool:
        """Tell whether the plan has an object of this name by now."""
        return name == DRIVER or name in self.classes

    def do(self, act: Act, seen: Seen | None) -> tuple[Verdict, ...]:
        """Judge the answer to an act, and keep what it leads to."""
        if act.call is None or seen is None:
            if act.coclass is not None:
                self.classes[act.object] = act.coclass
            return ()
        if self.lost:
            return ()
        if act.object == DRIVER:
            return tuple(self._driven(act.call, json.loads(str(act.call.arguments[0].value)), seen))
        told = [step.allowed(choice, self.readings) for choice in self._wanted(act.object, act.call)]
        verdicts = tuple(step.choice_verdicts(self.classes[act.object], act.call, told, seen))
        self._after(act, act.call, seen)
        return verdicts

    def ideal(self, act: Act) -> Seen:
        """Return an answer that the text allows."""
        assert act.call is not None
        if act.object == DRIVER:
            return self._told(act.call, json.loads(str(act.call.arguments[0].value)))
        wanted = (step.allowed(choice, self.readings) for choice in self._wanted(act.object, act.call))
        return step.reference_answer(wanted)

    def _wanted(self, name: str, call: Invoke) -> Iterator[Choice]:
        coclass = self.classes[name]
        if coclass in _DISPENSERS:
            yield from self._begun(coclass)
        elif coclass == TRANSACTION:
            yield from self._of_transaction(name, call)
        elif coclass == IMPLEMENTATION:
            yield from self._of_information(name)
        elif call.member == "Send":
            yield from self._performed(call, self._sends(call))
        elif call.member.startswith(("Receive", "Peek")):
            yield from self._read(call)
        elif call.member == "LookupId":
            mark = str(2**56 + list(self.places).index(self.looked[name]))
            yield one((), ANY_STATUS, Shape(text(mark), lambda seen: True, "any"))
        elif call.member == "Open":
            yield one((), S_OK, _object())
        else:
            yield one((), ANY_STATUS)

    def _begun(self, coclass: str) -> Iterator[Choice]:
        if coclass != COORDINATED:
            yield one((), S_OK, _object(self.classes))
        elif self.refused & {"begin", "connect"}:
            yield one(_dispenser("answers"), ANY_FAILURE)
        else:
            yield one(_dispenser("answers"))
            yield one(_dispenser("hands-out"), S_OK, _object(self.classes))

    def _of_transaction(self, name: str, call: Invoke) -> Iterator[Choice]:
        its, external = self.works[name], self.works[name].external
        if call.member == "QueryInterface":
            wanted = call.arguments[0].value == interfaces()["IMSMQTransaction3"].iid
            yield one(_dispenser("interface", "wraps") if wanted and external else (), S_OK, _object())
        elif call.member == "ITransaction":
            shape = Shape(Variant("UNKNOWN", "new"), lambda seen: bool(seen.value), "its ITransaction")
            yield one(_dispenser("wraps") if external else (), S_OK, shape)
        elif not external:
            yield one((), ANY_STATUS)
        elif its.ended or self.refused & {call.member.lower(), "connect"}:
            yield one(cell(IMPLEMENTATION, f"{call.member}.method", "check:coordinator"), ANY_FAILURE)
        else:
            yield one(cell(IMPLEMENTATION, f"{call.member}.method", "asks"))

    def _of_information(self, name: str) -> Iterator[Choice]:
        its = self.works[self.looked[name]]
        numbers = _NUMBERS.pack(*_INFORMATION.values()) if its.external else bytes(_NUMBERS.size)
        uow = uuid.UUID(its.identifier or str(uuid.uuid5(uuid.NAMESPACE_OID, name))).bytes_le
        if its.external and self.refused & {"info", "connect"}:
            yield one((), ANY_STATUS)
            return
        whole = octets(uow + numbers)
        yield one(_information("success"), S_OK, _bytes(whole, lambda seen: len(seen) == _SIZE, f"{_SIZE} bytes"))
        known = its.identifier is not None
        same = _bytes(whole, lambda seen: any(seen[:16]) and (not known or seen[:16] == uow), "its identifier")
        yield one(_information("identifies"), S_OK, same)
        if not its.external:
            zeros = _bytes(whole, lambda seen: not any(seen[16:]), "0 in all that is not its identifier")
            yield one(_information("zeros"), S_OK, zeros)

    def _performed(self, call: Invoke, names: Names) -> Iterator[Choice]:
        """Yield what an operation answers that its transaction, if it has one, lets be done."""
        of = self._of(call)
        barred = of is not None and not self.works[of].joined and self.refused & set(CODES)
        if barred:
            yield one((PERFORMED,), ANY_FAILURE)
        elif call.member == "Send":
            yield one(names)
        else:
            yield one(names, S_OK, _object())

    def _read(self, call: Invoke) -> Iterator[Choice]:
        found = self._found(call)
        if found is None:
            names = tuple(dict.fromkeys(name for label in self._missed(call) for name in self.because[label]))
            yield (Option(names, S_OK, _NOTHING), Option(names, ANY_FAILURE))
        elif call.member.startswith("Peek") or self._of(call) is None:
            yield one(self.because[found], S_OK, _object())
        else:
            yield from self._performed(call, self._takes(call))

    def _missed(self, call: Invoke) -> Iterable[str]:
        """Return the messages which a read that finds none would find if they were there."""
        mark = self._mark(call)
        return [mark] if mark is not None and call.member.endswith("eekByLookupId") else self.places

    def _after(self, act: Act, call: Invoke, seen: Seen) -> None:
        name, coclass, gives = act.object, self.classes[act.object], act.gives
        if call.member == "LookupId" and seen.value is not None:
            self.marks[str(seen.value.value)] = self.looked[name]
        elif call.member == "Send":
            self._worked(call, name, "sent", done=not failed(seen.status))
        elif call.member.startswith("Receive"):
            self._worked(call, self._found(call), "", done=seen.gives)
        elif call.member in ("Commit", "Abort"):
            column = "check:coordinator" if failed(seen.status) else "asks"
            names = cell(IMPLEMENTATION, f"{call.member}.method", column) if self.works[name].external else ()
            if failed(seen.status):
                self.because |= {one: (*names, *self.because[one]) for one in self._held(name)}
            else:
                self._ask(call.member.lower(), name, names)
                self._ended(name, call.member, names)
        elif coclass == IMPLEMENTATION and seen.status == S_OK and seen.value is not None:
            of = self.looked[name]
            self.works[of] = replace(self.works[of], info=seen.value.value)
            self._ask("info", of, _information("asks"))
        if gives is None or gives.startswith("$") or not seen.gives:
            return
        if coclass in _DISPENSERS:
            external = coclass == COORDINATED
            self.classes[gives] = TRANSACTION
            self.works[gives] = Work(external=external, joined=True, names=_dispenser("identifies") if external else ())
            self._ask("begin", gives, _dispenser("begins"))
        elif call.member == "ITransaction":
            self.classes[gives], self.looked[gives] = IMPLEMENTATION, name
        elif call.member != "QueryInterface":
            self.classes[gives] = {"Open": "MSMQQueue"}.get(call.member, "MSMQMessage")
            self.looked[gives] = self._found(call) or "" if call.member.startswith("Peek") else ""

    def _worked(self, call: Invoke, message: str | None, how: str, *, done: bool) -> None:
        """Keep that a message was sent or received, within a transaction or alone, or that it was refused."""
        if message is None:
            return
        of = self._of(call)
        if not done:
            self.because[message] = (PERFORMED,)
            self.places.setdefault(message, _GONE)
            return
        self.because[message] = self._sends(call) if how else self._takes(call)
        self.ends[message] = tuple(dict.fromkeys((*self._maps(call), *self.because[message])))
        if of is None:
            self.places[message] = _THERE if how else _GONE
            return
        self.places[message] = f"{how} {of}"
        self.works[of] = replace(self.works[of], joined=True)

    def _ended(self, of: str, member: str, names: Names) -> None:
        """Move the messages of a transaction where its end puts them."""
        for message in self._held(of):
            sent = self.places[message].startswith("sent")
            self.places[message] = _THERE if sent is (member == "Commit") else _GONE
            self.because[message] = tuple(dict.fromkeys((*names, *self.ends[message])))
        self.works[of] = replace(self.works[of], ended=True)

    def _held(self, of: str) -> list[str]:
        """Return the messages that a transaction holds."""
        return [message for message, place in self.places.items() if place in (f"sent {of}", f" {of}")]

    def _ask(self, what: str, of: str, names: Names) -> None:
        if self.works[of].external:
            self.asked = (*self.asked, Request(what, of, names))

    def _of(self, call: Invoke) -> str | None:
        """Return the transaction in which a call is made: that of its argument, or of the caller's context."""
        how = _transaction(call)
        if how.vt == "DISPATCH":
            return str(how.value)
        return self.context if how == MISSING or how.value in (MTS, XA) else None

    def _takes(self, call: Invoke) -> Names:
        """Return what a receive shows by the transaction in which it is made."""
        how = _transaction(call)
        if how.vt == "DISPATCH":
            of = self.works[str(how.value)]
            return (*of.names, CALLER)
        if self._of(call) is None:
            return (CALLER,) if self.context is not None else ()
        return (*self._by_context(call, "creates", "maps"), CALLER)

    def _sends(self, call: Invoke) -> Names:
        how = _transaction(call)
        if how.vt == "DISPATCH":
            return self.works[str(how.value)].names
        if self._of(call) is None:
            return ()
        return self._by_context(call, "creates", "transactional")

    def _maps(self, call: Invoke) -> Names:
        """Return what the end of the caller's transaction shows of a call before all else."""
        by_context = self._of(call) is not None and _transaction(call).vt != "DISPATCH"
        return self._by_context(call, "creates", "maps") if by_context else ()

    def _by_context(self, call: Invoke, *columns: str) -> Names:
        """Return what says that a call is part of the transaction of its caller, which the manager may know."""
        joined = self.context is not None and self.works[self.context].joined
        coclass = "MSMQMessage" if call.member == "Send" else "MSMQQueue"
        names = cell(coclass, f"{call.member}.method", *(one for one in columns if one != "creates" or not joined))
        default = cell(coclass, f"{call.member}.method", "default:Transaction") if _transaction(call) == MISSING else ()
        return (*default, *names, *(() if _transaction(call).value == XA else (PERFORMED,)))

    def _mark(self, call: Invoke) -> str | None:
        return next((self.marks[str(one.value)] for one in call.arguments if str(one.value) in self.marks), None)

    def _found(self, call: Invoke) -> str | None:
        """Return the message that a read finds."""
        there = [message for message, place in self.places.items() if place == _THERE]
        order, mark = list(self.places), self._mark(call)
        if "Last" in call.member:
            return there[-1] if there else None
        if mark is None:
            return there[0] if there else None
        if "Next" in call.member:
            return next((one for one in there if order.index(one) > order.index(mark)), None)
        if "Previous" in call.member:
            return next((one for one in reversed(there) if order.index(one) < order.index(mark)), None)
        return mark if mark in there else None

    def _told(self, call: Invoke, asked: Mapping[str, Any]) -> Seen:
        """Return what a driver answers to a call of the coordinator."""
        if call.member == ENLIST:
            kind = self._barrier(asked["transaction"])
            return Seen(S_OK if kind is None else CODES[kind][1])
        if call.member == REQUESTS:
            return Seen(S_OK, text(json.dumps([self._as_request(one) for one in self.asked])))
        words = {"prepare": "prepared", "commit": "committed", "abort": "aborted"}
        word = words.get(call.member.removeprefix("coordinator."))
        if word == "prepared" and self._work(asked["identifier"]) is None:
            word = "aborted"
        return Seen(S_OK, None if word is None else text(json.dumps(word)))

    def _as_request(self, one: Request) -> dict[str, Any]:
        its = self.works[one.of]
        identifier = its.identifier or str(uuid.uuid5(uuid.NAMESPACE_OID, one.of))
        return {"what": one.what, "identifier": identifier} | (
            {"information": _INFORMATION} if one.what == "info" else {}
        )

    def _barrier(self, identifier: str) -> str | None:
        """Return what the coordinator refuses where the manager is to take part in a transaction."""
        of = self._work(identifier)
        joined = of is not None and self.works[of].joined
        return None if joined else next((kind for kind in CODES if kind in self.refused), None)

    def _work(self, identifier: str) -> str | None:
        return next((name for name, its in self.works.items() if its.identifier == identifier), None)

    def _driven(self, call: Invoke, asked: Mapping[str, Any], seen: Seen) -> Iterator[Verdict]:
        """Yield the verdicts on what a call of the coordinator tells, and keep what it does."""
        method = call.member.removeprefix("coordinator.")
        if method == "enlist":
            yield from self._enlisted(asked["transaction"], seen)
            return
        if seen.status != S_OK:
            self.lost = True
        elif method == "context":
            self.context = asked["transaction"]
            if self.context is not None and self._work(self.context) is None:
                self.works[self.context] = Work(self.context)
        elif method == "refuse":
            kind = frozenset({asked["what"]})
            self.refused = self.refused | kind if asked["refused"] else self.refused - kind
        elif method == "requests":
            yield from self._requested(seen)
        else:
            yield from self._decided(method, asked["identifier"], seen)

    def _enlisted(self, identifier: str, seen: Seen) -> Iterator[Verdict]:
        kind = self._barrier(identifier)
        if kind is None:
            yield _verdict(ENLISTED, not failed(seen.status), ENLIST, {"status": S_OK}, seen)
            if not failed(seen.status):
                self.works[identifier] = Work(identifier, joined=True)
            return
        demand, code = CODES[kind]
        yield _verdict(REFUSED, failed(seen.status), ENLIST, {"status": "a failing HRESULT"}, seen)
        yield _verdict(demand, seen.status == code, ENLIST, {"status": code}, seen)

    def _decided(self, method: str, identifier: str, seen: Seen) -> Iterator[Verdict]:
        """Yield the verdict on the answer of a manager that is asked to prepare, and keep what an end does."""
        of, answer = self._work(identifier), _json(seen)
        its = Work() if of is None else self.works[of]
        if method != "prepare":
            if of is not None and not its.ended:
                self._ended(of, method.capitalize(), its.names)
            return
        held = () if of is None else tuple(dict.fromkeys(name for one in self._held(of) for name in self.ends[one]))
        names = held or (_dispenser("announces") if its.names else (REFUSED,))
        for name in names if isinstance(answer, str) else ():
            expected = "prepared" if its.joined else "aborted"
            yield _verdict(name, (answer != "aborted") is its.joined, "coordinator.prepare", expected, seen)

    def _requested(self, seen: Seen) -> Iterator[Verdict]:
        """Yield the verdicts on what the coordinator was asked since the last time."""
        told, asked, self.asked = _json(seen), self.asked, ()
        left = [
            {**each, "identifier": str(each["identifier"]).lower()}
            for each in (told if isinstance(told, list) else ())
            if each["what"] not in ("import", "enlist")
        ]
        ends = [request for request in asked if request.what in ("commit", "abort")]
        missing = [request for request in ends if not any(self._is(request, listed) for listed in left)]
        if len({request.what for request in ends}) > 1:  # if no end asks, the transaction is taken for an internal one
            for name in _dispenser("external"):
                yield _verdict(name, len(missing) < len(ends), REQUESTS, "requests to commit and to abort", seen)
        for request in asked:
            found = next((listed for listed in left if self._is(request, listed)), None)
            for name in request.names:
                yield _verdict(name, found is not None, REQUESTS, f"a request: {request.what}", seen)
            if found is None:
                continue
            left.remove(found)
            if request.what == "begin":
                self.works[request.of] = replace(self.works[request.of], identifier=found["identifier"])
                self.known |= {found["identifier"]}
            elif request.what == "info" and "information" in found:
                yield from self._informed(self.works[request.of], found["information"], seen)
        if any(listed["what"] == "begin" for listed in left):
            for name in _dispenser("begins"):
                yield _verdict(name, False, REQUESTS, "one request to begin for each transaction", seen)

    def _is(self, request: Request, listed: Mapping[str, Any]) -> bool:
        """Tell whether a request that is listed is one that is owed."""
        identifier, its = listed["identifier"], self.works[request.of].identifier
        known = identifier not in self.known if request.what == "begin" else identifier == its
        return bool(listed["what"] == request.what and known)

    def _informed(self, its: Work, information: Mapping[str, int], seen: Seen) -> Iterator[Verdict]:
        given = its.info or b""
        numbers = tuple(information[name] for name in _INFORMATION)
        for name in _information("tells"):
            same = len(given) == _SIZE and _NUMBERS.unpack(given[16:]) == numbers
            yield _verdict(name, same, REQUESTS, {"numbers": list(numbers)}, Seen(S_OK, octets(given)))


def _object(others: Mapping[str, str] | None = None) -> Shape:
    names = tuple(others or ())
    return Shape(Variant("DISPATCH", "new"), lambda seen: bool(seen.value) and seen.value not in names, "an object")


def _bytes(sample: Variant, holds: Any, said: str) -> Shape:
    return Shape(
        sample, lambda seen: isinstance(seen.value, bytes) and len(seen.value) >= 16 and holds(seen.value), said
    )


def _dispenser(*columns: str) -> Names:
    return cell(COORDINATED, "BeginTransaction.method", *columns)


def _information(*columns: str) -> Names:
    return cell(IMPLEMENTATION, "GetTransactionInfo.method", *columns)


def _transaction(call: Invoke) -> Variant:
    """Return the argument that says in which transaction a call is made."""
    coclass = "MSMQMessage" if call.member == "Send" else "MSMQQueue"
    names = [one.name for one in CLASSES[coclass][call.member].slots[0].arguments]
    given = dict(zip(names, call.arguments, strict=False))
    return given.get("Transaction", MISSING)


def _json(seen: Seen) -> Any:
    """Return what a call of the coordinator told beside its status; None for nothing that can be read."""
    try:
        return None if seen.value is None else json.loads(str(seen.value.value))
    except ValueError:
        return None


def _verdict(name: str, holds: bool, subject: str, expected: Any, seen: Seen) -> Verdict:
    """Return the verdict on what a call of the coordinator has told. subject: its method."""
    return Verdict(name, Outcome.PASS if holds else Outcome.FAIL, subject, expected, seen.to_json())


def coordinated_objects(readings: Readings, place: Place) -> CoordinatedObjects:
    """Return the scene before the first act of a plan."""
    return CoordinatedObjects(readings)
