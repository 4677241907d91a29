"""An honest manager with objects in transactions of a coordinator, and variants that are not, named after their defect.

The objects are those that the plans of `conformance.activex.plans_coordinated` call, and no others.
"""

from __future__ import annotations

import base64
import struct
import uuid
from pathlib import Path
from typing import Any

from coordinated_manager import FACETS, Coordinated
from honest_memory import OK, Refused

CONTEXTS = ["context", "requests", "refuse"]
ALL = {
    **FACETS,
    "coordinator": [*FACETS["coordinator"], *CONTEXTS],
    "objects": ["create", "invoke", "query", "release"],
}
CODES = {"connect": 0xC00E004C, "import": 0xC00E004E, "enlist": 0xC00E0058}
FAILS, NO_INTERFACE, NO_MESSAGE = 0x80004005, 0x80004002, 0xC00E0008
ACCESS = {1: "receive", 2: "send", 0x20: "peek"}
TRANSACTION3 = "eba96b13-2168-11d3-898c-00e02c074f6b"
INFORMATION = {"isolation_level": 0x100000, "isolation_flags": 4, "supported": 7}


class Contexts(Coordinated):
    """Does what the documents and the protocol page say."""

    def __init__(self, state_dir: Path) -> None:
        self.forget()
        super().__init__(state_dir)
        self.facets = ALL

    def forget(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.context: str | None = None
        self.refused: set[str] = set()
        self.requests: list[dict[str, Any]] = []

    def clear(self) -> None:
        super().clear()
        self.forget()

    def do_hello(self, **asked: Any) -> dict[str, Any]:
        return super().do_hello(**asked) | {"protocol": "1.3"}

    # The coordinator

    def do_coordinator_context(self, transaction: str | None) -> dict[str, Any]:
        self.context = transaction
        return OK

    def do_coordinator_requests(self) -> dict[str, Any]:
        told, self.requests = self.requests, []
        return OK | {"requests": told}

    def do_coordinator_refuse(self, what: str, refused: bool) -> dict[str, Any]:
        (self.refused.add if refused else self.refused.discard)(what)
        return OK

    def do_coordinator_enlist(self, transaction: str) -> dict[str, Any]:
        if transaction not in self.enlisted:
            for what, code in CODES.items():
                if what in self.refused:
                    raise Refused(code)
        return super().do_coordinator_enlist(transaction)

    def ask(self, what: str, identifier: str, **told: Any) -> None:
        if self.refused & {what, "connect"} or (what in ("commit", "abort") and identifier not in self.enlisted):
            raise Refused(FAILS)
        self.requests.append({"what": what, "identifier": identifier, **told})

    # Objects

    def new(self, coclass: str, vt: str = "DISPATCH", **state: Any) -> dict[str, Any]:
        self.number += 1
        self.objects[f"o{self.number}"] = {"class": coclass, **state}
        return OK | {"value": {"vt": vt, "value": f"o{self.number}"}}

    def do_objects_create(self, **named: Any) -> dict[str, Any]:
        return OK | {"object": self.new(named["class"])["value"]["value"]}

    def do_objects_release(self, objects: list[str]) -> dict[str, Any]:
        return OK

    def do_objects_query(self, object: str, iid: str) -> dict[str, Any]:
        known = self.objects[object]["class"] == "MSMQTransaction" and iid == TRANSACTION3
        return OK | {"object": object} if known else {"status": NO_INTERFACE}

    def do_objects_invoke(self, object: str, member: str, kind: str, arguments: list[Any]) -> dict[str, Any]:
        its = self.objects[object]
        if kind == "put":
            its[member] = arguments[0].get("value")
            return OK
        if member == "LookupId":
            return OK | {"value": {"vt": "BSTR", "value": its["lookup"]}}
        if member.startswith(("Receive", "Peek")):
            return self.read_by(its, member, arguments)
        return getattr(self, f"object_{member}")(its, arguments)

    def object_Create(self, its: dict[str, Any], arguments: list[Any]) -> dict[str, Any]:
        transactional = bool(arguments[0].get("value")) and arguments[0]["vt"] == "BOOL"
        self.do_queues_create(its["PathName"], {"PROPID_Q_TRANSACTION": transactional})
        return OK

    def object_Delete(self, its: dict[str, Any], arguments: list[Any]) -> dict[str, Any]:
        return self.do_queues_delete(f"DIRECT=OS:{its['PathName']}")

    def object_Open(self, its: dict[str, Any], arguments: list[Any]) -> dict[str, Any]:
        access = ACCESS[arguments[0]["value"]]
        return self.new("MSMQQueue", handle=self.do_queues_open(f"DIRECT=OS:{its['PathName']}", access)["queue"])

    def object_Send(self, its: dict[str, Any], arguments: list[Any]) -> dict[str, Any]:
        handle = self.objects[arguments[0]["value"]]["handle"]
        within, alone = self.within("Send", arguments[1])
        self.do_messages_send(handle, {}, within)
        if alone:
            self.do_transactions_commit(str(within))
        return OK

    def within(self, member: str, how: dict[str, Any]) -> tuple[str | None, bool]:
        """Return the transaction of an operation, and whether the operation is all that it has."""
        if how["vt"] == "DISPATCH":
            return self.of_object(self.objects[how["value"]]), False
        number = 1 if how["vt"] == "ERROR" else how["value"]
        if number in (1, 2):
            return (None if self.context is None else self.by_context(member, number, self.context)), False
        return (self.do_transactions_begin()["transaction"], True) if number == 3 else (None, False)

    def of_object(self, its: dict[str, Any]) -> str:
        return str(its["handle"] if its["identifier"] is None else self.enlisted[its["identifier"]])

    def by_context(self, member: str, number: int, identifier: str) -> str | None:
        return str(self.do_coordinator_enlist(identifier)["transaction"])

    def read_by(self, its: dict[str, Any], member: str, arguments: list[Any]) -> dict[str, Any]:
        takes = member.startswith("Receive")
        way = next((one for one in ("Next", "Previous", "First", "Last") if one in member), "Current").lower()
        by_id = "LookupId" in member
        lookup = str(arguments[0].get("value")) if by_id and way not in ("first", "last") else ""
        before = 1 if by_id and lookup else 0
        within, alone = self.within(member, arguments[before]) if takes else (None, False)
        listed = self.of(its["handle"])["queue"]
        try:
            found = self.by_id(its["handle"], lookup, way, ()) if by_id else self.first(listed)
        except Refused:
            found = None
        if found is None:
            return {"status": NO_MESSAGE}
        self.give(found, takes, within)
        if alone:
            self.do_transactions_commit(str(within))
        return self.new("MSMQMessage", lookup=str(self.lookup(found)))

    def object_BeginTransaction(self, its: dict[str, Any], arguments: list[Any]) -> dict[str, Any]:
        if its["class"] == "MSMQTransactionDispenser":
            return self.new("MSMQTransaction", handle=self.do_transactions_begin()["transaction"], identifier=None)
        return self.new("MSMQTransaction", identifier=self.begun())

    def begun(self) -> str:
        identifier = str(uuid.uuid4())
        self.ask("begin", identifier)
        super().do_coordinator_enlist(identifier)
        return identifier

    def object_Commit(self, its: dict[str, Any], arguments: list[Any]) -> dict[str, Any]:
        return self.end(its, "commit")

    def object_Abort(self, its: dict[str, Any], arguments: list[Any]) -> dict[str, Any]:
        return self.end(its, "abort")

    def end(self, its: dict[str, Any], how: str) -> dict[str, Any]:
        if its["identifier"] is None:
            ends = {"commit": self.do_transactions_commit, "abort": self.do_transactions_abort}
            return ends[how](its["handle"])
        self.ask(how, its["identifier"])
        self.over(its["identifier"], {"commit": "committed", "abort": "aborted"}[how])
        return OK

    def object_ITransaction(self, its: dict[str, Any], arguments: list[Any]) -> dict[str, Any]:
        return self.new("TransactionImpl", "UNKNOWN", of=its)

    def object_GetTransactionInfo(self, its: dict[str, Any], arguments: list[Any]) -> dict[str, Any]:
        given = its["of"]["identifier"]
        if given is None:
            return self.informed(uuid.uuid5(uuid.NAMESPACE_OID, its["of"]["handle"]), [0, 0, 0])
        self.ask("info", given, information=INFORMATION)
        return self.informed(uuid.UUID(given), list(INFORMATION.values()))

    def informed(self, identifier: uuid.UUID, numbers: list[int]) -> dict[str, Any]:
        told = identifier.bytes_le + struct.pack("<iII12x", *numbers)
        return OK | {"value": {"vt": "ARRAY", "of": "UI1", "value": base64.b64encode(told).decode()}}


class SaysNothing(Contexts):
    """No defect: an API that shows neither what the manager answers nor what the coordinator tells of a transaction."""

    def do_coordinator_prepare(self, identifier: str, single_phase: bool = False) -> dict[str, Any]:
        super().do_coordinator_prepare(identifier, single_phase)
        return OK

    def ask(self, what: str, identifier: str, **told: Any) -> None:
        super().ask(what, identifier)


class ListsWork(Contexts):
    """No defect: the manager's own requests are listed too, and identifiers have capital letters."""

    def do_coordinator_enlist(self, transaction: str) -> dict[str, Any]:
        given = super().do_coordinator_enlist(transaction)
        self.requests += [{"what": what, "identifier": transaction} for what in ("import", "enlist")]
        return given


class BeginFails(Contexts):
    def begun(self) -> str:
        raise Refused(FAILS)


class BeginSucceedsRefused(Contexts):
    def object_BeginTransaction(self, its: dict[str, Any], arguments: list[Any]) -> dict[str, Any]:
        try:
            return super().object_BeginTransaction(its, arguments)
        except Refused:
            return self.new("MSMQTransaction", identifier=None, handle=self.do_transactions_begin()["transaction"])


class BeginsAlone(Contexts):
    def begun(self) -> str:
        identifier = str(uuid.uuid4())
        Coordinated.do_coordinator_enlist(self, identifier)
        return identifier


class BeginsTwice(Contexts):
    def begun(self) -> str:
        super().begun()
        return super().begun()


class OwnIdentifier(Contexts):
    def begun(self) -> str:
        super().begun()
        identifier = str(uuid.uuid4())
        Coordinated.do_coordinator_enlist(self, identifier)
        return identifier


class Internal(Contexts):
    def object_BeginTransaction(self, its: dict[str, Any], arguments: list[Any]) -> dict[str, Any]:
        given = super().object_BeginTransaction(its, arguments)
        made = self.objects[given["value"]["value"]]
        if made["identifier"] is not None:
            made.update(handle=self.enlisted[made["identifier"]], identifier=None)
        return given


class Unannounced(Contexts):
    def begun(self) -> str:
        identifier = str(uuid.uuid4())
        self.ask("begin", identifier)
        return identifier

    def of_object(self, its: dict[str, Any]) -> str:
        if its["identifier"] is not None:
            Coordinated.do_coordinator_enlist(self, its["identifier"])
        return super().of_object(its)


class Unwrapped(Contexts):
    def object_ITransaction(self, its: dict[str, Any], arguments: list[Any]) -> dict[str, Any]:
        return OK | {"value": {"vt": "EMPTY"}}


class OldInterface(Contexts):
    def do_objects_query(self, object: str, iid: str) -> dict[str, Any]:
        return {"status": NO_INTERFACE}


class GivesNothing(Contexts):
    def object_BeginTransaction(self, its: dict[str, Any], arguments: list[Any]) -> dict[str, Any]:
        super().object_BeginTransaction(its, arguments)
        return OK | {"value": {"vt": "DISPATCH", "value": None}}


class CommitUnasked(Contexts):
    how = "commit"

    def ask(self, what: str, identifier: str, **told: Any) -> None:
        if what != self.how:
            super().ask(what, identifier, **told)


class AbortUnasked(CommitUnasked):
    how = "abort"


class InformationUnasked(CommitUnasked):
    how = "info"


class CommitIgnoresErrors(Contexts):
    how = "commit"

    def ask(self, what: str, identifier: str, **told: Any) -> None:
        try:
            super().ask(what, identifier, **told)
        except Refused:
            if what != self.how:
                raise


class AbortIgnoresErrors(CommitIgnoresErrors):
    how = "abort"


class InformationIsZero(Contexts):
    def informed(self, identifier: uuid.UUID, numbers: list[int]) -> dict[str, Any]:
        return super().informed(identifier, [0, 0, 0])


class InformationOfAnother(Contexts):
    def informed(self, identifier: uuid.UUID, numbers: list[int]) -> dict[str, Any]:
        return super().informed(uuid.uuid4(), numbers)


class InformationForInternal(Contexts):
    def informed(self, identifier: uuid.UUID, numbers: list[int]) -> dict[str, Any]:
        return super().informed(identifier, numbers if any(numbers) else [1, 2, 3])


class ContextAlone(Contexts):
    """Operations in a context are complete at once."""

    def within(self, member: str, how: dict[str, Any]) -> tuple[str | None, bool]:
        by_context = how["vt"] != "DISPATCH" and how.get("value") != 3
        return super().within(member, {"vt": "I4", "value": 3} if by_context else how)


class MtsAlone(ContextAlone):
    def within(self, member: str, how: dict[str, Any]) -> tuple[str | None, bool]:
        return ContextAlone.within(self, member, how) if how.get("value") == 1 else Contexts.within(self, member, how)


class ContextAnother(Contexts):
    """Operations in a context are part of a transaction of their own, which nobody ends."""

    def by_context(self, member: str, number: int, identifier: str) -> str | None:
        return str(self.do_transactions_begin()["transaction"])


class ContextGoesFirst(Contexts):
    def within(self, member: str, how: dict[str, Any]) -> tuple[str | None, bool]:
        return super().within(member, how if self.context is None else {"vt": "I4", "value": 1})


class UnknownIsRefused(Contexts):
    def by_context(self, member: str, number: int, identifier: str) -> str | None:
        if identifier not in self.enlisted:
            raise Refused(FAILS)
        return super().by_context(member, number, identifier)


class SendOutside(Contexts):
    def within(self, member: str, how: dict[str, Any]) -> tuple[str | None, bool]:
        within, alone = super().within(member, how)
        return (within, alone) if member != "Send" or how["vt"] == "DISPATCH" or alone else (None, False)


class BarredIsDoneAlone(Contexts):
    def within(self, member: str, how: dict[str, Any]) -> tuple[str | None, bool]:
        try:
            return super().within(member, how)
        except Refused:
            return super().within(member, {"vt": "I4", "value": 3})


class EnlistsRefused(Contexts):
    def do_coordinator_enlist(self, transaction: str) -> dict[str, Any]:
        return Coordinated.do_coordinator_enlist(self, transaction)


class EnlistsInSilence(Contexts):
    def do_coordinator_enlist(self, transaction: str) -> dict[str, Any]:
        try:
            return super().do_coordinator_enlist(transaction)
        except Refused:
            Coordinated.do_coordinator_enlist(self, transaction)
            raise


class OneCodeForAll(Contexts):
    def do_coordinator_enlist(self, transaction: str) -> dict[str, Any]:
        try:
            return super().do_coordinator_enlist(transaction)
        except Refused:
            raise Refused(FAILS) from None


class AbortEndsRefused(Contexts):
    """An Abort that the coordinator refuses fails, and has ended the transaction all the same."""

    def end(self, its: dict[str, Any], how: str) -> dict[str, Any]:
        if how == "abort" and "abort" in self.refused:
            self.over(its["identifier"], "aborted")
        return super().end(its, how)


class LeftOutAlone(Contexts):
    def within(self, member: str, how: dict[str, Any]) -> tuple[str | None, bool]:
        return super().within(member, {"vt": "I4", "value": 3} if how["vt"] == "ERROR" else how)


class UnknownSendIsAnother(Contexts):
    def by_context(self, member: str, number: int, identifier: str) -> str | None:
        if member == "Send" and identifier not in self.enlisted:
            return str(self.do_transactions_begin()["transaction"])
        return super().by_context(member, number, identifier)


class SendAnother(Contexts):
    def by_context(self, member: str, number: int, identifier: str) -> str | None:
        if member == "Send":
            return str(self.do_transactions_begin()["transaction"])
        return super().by_context(member, number, identifier)


class RefusesCalls(Contexts):
    """It has no contexts, and says so by a status."""

    def do_coordinator_context(self, transaction: str | None) -> dict[str, Any]:
        raise Refused(FAILS)


class NoReset(BarredIsDoneAlone):
    """The state of one process, which nothing resets."""

    last: NoReset

    def __init__(self, state_dir: Path) -> None:
        super().__init__(state_dir)
        self.facets = {**ALL, "manager": ["hello", "stop"]}
        NoReset.last = self
