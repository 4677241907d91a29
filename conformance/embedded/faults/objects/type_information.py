"""Faults of identifiers, interfaces and of what type information says (MC-MQAC 1.9, 2.2.2, 3.2 to 3.16, 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.objects.events import EventObject
from conformance.embedded.objects.table import IDISPATCH, Objects
from conformance.embedded.objects.type_library import REVISIONS, Argument, Member, TypeLibrary, declared
from conformance.embedded.objects.variants import (
    CONNECT_E_NOCONNECTION,
    E_INVALIDARG,
    E_NOINTERFACE,
    REGDB_E_CLASSNOTREG,
    ComObject,
)
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.interfaces import METHODS

ALONE = {
    "IMSMQDestination": ("destination", "3.12.4.1"), "IMSMQPrivateDestination": ("private-destination", "3.12.4.2"),
    "IMSMQEvent": ("event", ""), "IMSMQEvent2": ("event2", "3.16.4.1"), "IMSMQEvent3": ("event3", "3.16.4.2"),
    "IMSMQManagement": ("management", "3.3.4.1"), "IMSMQQueueManagement": ("queue-management", "3.4.4.1"),
    "IMSMQOutgoingQueueManagement": ("outgoing-queue-management", "3.5.4.1"),
    "IMSMQApplication": ("application", "3.2.4.1"), "IMSMQApplication2": ("application2", "3.2.4.2"),
    "IMSMQApplication3": ("application3", "3.2.4.3"), "IMSMQCollection": ("collection", "3.15.4.1"),
    "IMSMQPrivateEvent": ("private-event", "3.16.4.3"), "_DMSMQEventEvents": ("event-events", "3.16.4.4"),
}  # fmt: skip
"""Interfaces whose revisions do not repeat their members: the words of their demands, and their section."""
FAMILIES = {
    "IMSMQQueueInfo": (4, "queue-info", "3.10.4.1"), "IMSMQQueue": (4, "queue", "3.11.4.1"),
    "IMSMQMessage": (4, "message", "3.17.4.1"), "IMSMQTransaction": (3, "transaction", ""),
    "IMSMQQuery": (4, "query", "3.13.4.1"), "IMSMQQueueInfos": (4, "queue-infos", "3.14.4.1"),
    "IMSMQTransactionDispenser": (3, "transaction-dispenser", "3.6.4.1"),
    "IMSMQCoordinatedTransactionDispenser": (3, "coordinated-transaction-dispenser", "3.7.4.1"),
}  # fmt: skip
"""Families of interfaces: revisions, the words of their demands, and the section of the newest."""
IDENTIFIED = {"IMSMQTransaction": "3.9.4.1", "IMSMQTransaction2": "3.9.4.2", "IMSMQTransaction3": "3.9.4.3"}
MEMBERS = {
    ("IMSMQQueueInfo4", "Open"): "3.10.4.1.28.open-method",
    ("IMSMQQueueInfo4", "Create"): "3.10.4.1.26.create-method",
    ("IMSMQQueueInfo4", "Label"): "3.10.4.1.4.get-label-method",
    ("IMSMQQueueInfo4", "MulticastAddress"): "3.10.4.1.37.get-multicast-address-method",
    ("IMSMQQueue4", "Receive"): "3.11.4.1.14.receive-method",
    ("IMSMQQueue4", "PeekNext"): "3.11.4.1.17.peek-next-method",
    ("IMSMQQueue4", "EnableNotification"): "3.11.4.1.9.enable-notification-method",
    ("IMSMQQueue4", "ReceiveByLookupIdAllowPeek"): "3.11.4.1.33.receive-by-lookup-id-allow-peek-method",
    ("IMSMQMessage4", "Send"): "3.17.4.1.48.send-method",
    ("IMSMQMessage4", "Priority"): "3.17.4.1.11.get-priority-method",
    ("IMSMQMessage4", "LookupId"): "3.17.4.1.83.get-lookup-id-method",
    ("IMSMQDestination", "FormatName"): "3.12.4.1.10.get-format-name-method",
    ("IMSMQPrivateDestination", "Handle"): "3.12.4.2.1.get-handle-method",
    ("_DMSMQEventEvents", "Arrived"): "3.16.4.4.1.arrived-method",
    ("_DMSMQEventEvents", "ArrivedError"): "3.16.4.4.2.arrived-error-method",
    ("IMSMQTransaction", "Commit"): "3.9.4.1.2.commit-method",
    ("IMSMQTransaction2", "InitNew"): "3.9.4.2.1.init-new-method",
    ("IMSMQTransactionDispenser3", "BeginTransaction"): "3.6.4.1.1.begin-transaction-method",
}
"""Members with the demand that they are there, with their slot, kind and arguments."""
CONSTANTS = {
    "MQTRANSACTION": ("MQ_SINGLE_MESSAGE", "1.mq-single-message"), "MQSHARE": ("MQ_DENY_RECEIVE_SHARE",
    "2.mq-deny-receive-share"), "MQACCESS": ("MQ_ADMIN_ACCESS", "3.mq-admin-access"),
    "MQJOURNAL": ("MQ_JOURNAL", "4.mq-journal"), "MQTRANSACTIONAL": ("MQ_TRANSACTIONAL", "5.mq-transactional"),
    "MQAUTHENTICATE": ("MQ_AUTHENTICATE", "6.mq-authenticate"), "MQPRIVLEVEL": ("MQ_PRIV_LEVEL_BODY",
    "7.mq-priv-level-body"), "MQMSGCURSOR": ("MQMSG_NEXT", "8.mqmsg-next"), "MQMSGCLASS": (
    "MQMSG_CLASS_ACK_RECEIVE", "9.mqmsg-class-ack-receive"), "MQMSGDELIVERY": ("MQMSG_DELIVERY_RECOVERABLE",
    "10.mqmsg-delivery-recoverable"), "MQMSGACKNOWLEDGEMENT": ("MQMSG_ACKNOWLEDGEMENT_FULL_RECEIVE",
    "11.mqmsg-acknowledgement-full-receive"), "MQMSGJOURNAL": ("MQMSG_DEADLETTER", "12.mqmsg-deadletter"),
    "MQMSGTRACE": ("MQMSG_SEND_ROUTE_TO_REPORT_QUEUE", "13.mqmsg-send-route-to-report-queue"), "MQMSGSENDERIDTYPE": (
    "MQMSG_SENDERID_TYPE_SID", "14.mqmsg-senderid-type-sid"), "MQMSGPRIVLEVEL": ("MQMSG_PRIV_LEVEL_BODY_ENHANCED",
    "15.mqmsg-priv-level-body-enhanced"), "MQMSGAUTHLEVEL": ("MQMSG_AUTH_LEVEL_SIG30", "16.mqmsg-auth-level-sig30"),
    "MQMSGAUTHENTICATION": ("MQMSG_AUTHENTICATED_SIG20", "17.mqmsg-authenticated-sig20"), "MQCALG": (
    "MQMSG_CALG_SHA1", "18.mqmsg-calg-sha1"), "XACTTC": ("XACTTC_SYNC", "21.xacttc-sync"),
}  # fmt: skip
"""Enumerations with one of their constants, and its demand in 2.2.2."""

_register = partial(row, __name__, "type_library")


def _another_iid(interface: str) -> Any:
    def iid(self: Any, name: str) -> str:
        found = TypeLibrary.iid(self, name)
        return f"{found[:-1]}{'1' if found[-1] == '0' else '0'}" if name == interface else found

    return iid


def _another_base(interface: str) -> Any:
    def base(self: Any, name: str) -> str:
        return "IUnknown" if name == interface else TypeLibrary.base(self, name)

    return base


def _without_last(interface: str) -> Any:
    def members(self: Any, name: str) -> tuple[Member, ...]:
        found = TypeLibrary.members(self, name)
        return found[:-1] if name == interface else found

    return members


@fault("msmq-query-has-the-identifier-of-messages", TypeLibrary.clsid, "1.9.msmq-query-class-id")
def msmq_query_has_the_identifier_of_messages(plain, self, name):
    """MSMQQuery has the identifier of MSMQMessage."""
    return plain("MSMQMessage" if name == "MSMQQuery" else name)


for _family, (_revisions, _words, _section) in FAMILIES.items():
    for _revision in range(1, _revisions + 1):
        _number = str(_revision) if _revision > 1 else ""
        _name, _word = _family + _number, f"imsmq-{_words}{_number}"
        _where = IDENTIFIED.get(_name, _section if _revision == _revisions else "")
        _ids = (f"{_where}.class-and-interface-ids",) if _where else ()
        _register(
            f"{_word}-has-another-identifier", f"The identifier of {_name} ends with another digit.",
            (f"1.9.{_word}-interface-id", f"6.{_word}-interface", *_ids),
            iid=_another_iid(_name),
        )  # fmt: skip
        _register(
            f"{_word}-has-another-base", f"{_name} extends IUnknown.", (f"6.{_word}-interface",),
            base=_another_base(_name),
        )  # fmt: skip
        _register(
            f"{_word}-lacks-its-last-member", f"{_name} has one member fewer.", (f"6.{_word}-interface",),
            members=_without_last(_name),
        )  # fmt: skip

for _name, (_words, _where) in ALONE.items():
    _word = f"{'dmsmq' if _name.startswith('_D') else 'imsmq'}-{_words}"
    _printed = _word.replace("imsmq-private-event", "imsmp-private-event")  # as section 6 prints it
    _ids = (f"{_where}.class-and-interface-ids",) if _where else ()
    _register(
        f"{_word}-has-another-identifier", f"The identifier of {_name} ends with another digit.",
        (f"1.9.{_word}-interface-id", f"6.{_printed}-interface", *_ids), iid=_another_iid(_name),
    )  # fmt: skip
    _register(
        f"{_word}-has-another-base",
        f"{_name} extends IUnknown.",
        (f"6.{_printed}-interface",),
        base=_another_base(_name),
    )


def _changed(interface: str, member: str, **changes: Any) -> Any:
    def members(self: Any, name: str) -> tuple[Member, ...]:
        found = TypeLibrary.members(self, name)
        if name != interface:
            return found
        first = next(each for each in found if each.name == member)
        return tuple(replace(each, **changes) if each is first else each for each in found)

    return members


def _with_arguments(interface: str, member: str, change: Any) -> Any:
    def members(self: Any, name: str) -> tuple[Member, ...]:
        found = TypeLibrary.members(self, name)
        if name != interface:
            return found
        first = next(each for each in found if each.name == member)
        return tuple(replace(each, arguments=change(each.arguments)) if each is first else each for each in found)

    return members


def _required(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    return tuple(replace(each, flags=("in",) if "optional" in each.flags else each.flags) for each in arguments)


def _renamed(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    return (replace(arguments[0], name="value"), *arguments[1:])


def _retyped(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    return (replace(arguments[0], vt="I8"), *arguments[1:])


for (_interface, _member), _id in MEMBERS.items():
    _spoken = _interface.removeprefix("_D").removeprefix("IMSMQ")
    _word = f"{kebab(_spoken, letters=True)}-{kebab(_member)}"
    _register(
        f"{_word}-has-another-slot", f"{_member} of {_interface} stands in slot 99.", (_id,),
        members=_changed(_interface, _member, slot=99),
    )  # fmt: skip
    _register(
        f"{_word}-is-a-putter", f"{_member} of {_interface} is a putter.", (_id,),
        members=_changed(_interface, _member, kind="put"),
    )  # fmt: skip
    _register(
        f"{_word}-has-another-name", f"{_member} of {_interface} is called {_member}Ex.", (_id,),
        members=_changed(_interface, _member, name=f"{_member}Ex"),
    )  # fmt: skip
    _register(
        f"{_word}-has-an-argument-of-another-type", f"The first argument of {_member} is a VT_I8.", (_id,),
        members=_with_arguments(_interface, _member, _retyped),
    )  # fmt: skip
    _register(
        f"{_word}-has-an-argument-of-another-name", f"The first argument of {_member} is called value.", (_id,),
        members=_with_arguments(_interface, _member, _renamed),
    )  # fmt: skip
    if _member in ("Create", "Receive", "PeekNext", "Send", "Commit", "EnableNotification"):
        _register(
            f"{_word}-requires-every-argument", f"No argument of {_member} can be left out.", (_id,),
            members=_with_arguments(_interface, _member, _required),
        )  # fmt: skip


def _another_constant(enumeration: str, constant: str) -> Any:
    def constants(self: Any) -> dict[str, dict[str, int]]:
        found = TypeLibrary.constants(self)
        found[enumeration] = {**found[enumeration], constant: found[enumeration][constant] + 1}
        return found

    return constants


for _enumeration, (_constant, _id) in CONSTANTS.items():
    _register(
        f"{_constant.lower().replace('_', '-')}-is-another-number", f"{_constant} is greater by 1.", (f"2.2.2.{_id}",),
        constants=_another_constant(_enumeration, _constant),
    )  # fmt: skip

_register("mq-error-is-another-number", "MQ_ERROR of MQERROR is greater by 1.", ("6.mqerror-declaration",),
          constants=_another_constant("MQERROR", "MQ_ERROR"))  # fmt: skip

CLASSES: Final = (
    "MSMQQuery", "MSMQMessage", "MSMQQueue", "MSMQEvent", "MSMQQueueInfo", "MSMQQueueInfos", "MSMQTransaction",
    "MSMQCoordinatedTransactionDispenser", "MSMQTransactionDispenser", "MSMQApplication", "MSMQDestination",
    "MSMQCollection", "MSMQManagement", "MSMQOutgoingQueueManagement", "MSMQQueueManagement",
)  # fmt: skip

_objects = partial(row, __name__, "objects")


def _another_default(called: Sequence[str]) -> Any:
    def described(self: Any, target: type[ComObject]) -> dict[str, Any]:
        found: dict[str, Any] = TypeLibrary.described(self, target)
        if target.CLASS in called:
            found["interfaces"] = [self.interface("IConnectionPointContainer"), *found["interfaces"]]
        return found

    return described


for _at, _word in enumerate(("five-classes-begin", "five-other-classes-begin", "the-last-classes-begin")):
    _some = CLASSES[5 * _at : 5 * _at + 5]
    _register(f"{_word}-with-a-container", f"The first interface of {', '.join(_some)} is IConnectionPointContainer.",
              tuple(f"6.{kebab(_class)}-coclass" for _class in _some), described=_another_default(_some))  # fmt: skip


def _unknown(called: str) -> Any:
    def class_named(self: Any, name: str) -> type[ComObject]:
        if name == called:
            raise MqError(REGDB_E_CLASSNOTREG)
        return Objects.class_named(self, name)

    return class_named


for _class in CLASSES:
    _objects(f"{kebab(_class)}-cannot-be-made", f"There is no class {_class}.", (f"1.9.{kebab(_class)}-class-id",),
              class_named=_unknown(_class))  # fmt: skip


def _not_found(interface: str) -> Any:
    def interfaces(self: Any, target: ComObject) -> tuple[str, ...]:
        return tuple(each for each in Objects.interfaces(self, target) if each != interface)

    return interfaces


for _family, (_count, _words, _) in FAMILIES.items():
    for _revision in range(1, _count + 1):
        _number = str(_revision) if _revision > 1 else ""
        _objects(f"imsmq-{_words}{_number}-is-not-found", f"No object can be asked for {_family}{_number}.",
                  (f"1.9.imsmq-{_words}{_number}-interface-id",), interfaces=_not_found(_family + _number))  # fmt: skip
for _name, (_words, _) in ALONE.items():
    if not _name.startswith("_"):
        _objects(f"imsmq-{_words}-is-not-found", f"No object can be asked for {_name}.",
                  (f"1.9.imsmq-{_words}-interface-id",), interfaces=_not_found(_name))  # fmt: skip
_objects("event-is-no-connection-point", "MSMQEvent cannot be asked for IConnectionPoint.",
          ("3.16.class-msmq-event-i-connection-point",), interfaces=_not_found("IConnectionPoint"))  # fmt: skip
_objects("event-is-no-container", "MSMQEvent cannot be asked for IConnectionPointContainer.",
          ("3.16.class-msmq-event-i-connection-point", "6.i-connection-point-container-interface"),
          interfaces=_not_found("IConnectionPointContainer"))  # fmt: skip
_objects("transaction-implementation-is-no-transaction", "A transaction cannot be asked for ITransaction.",
          ("6.i-transaction-interface",), interfaces=_not_found("ITransaction"))  # fmt: skip

_REFUSED = ("3.4.3.variable-queue-is-outgoing-msmq-management-code",
            "3.5.3.variable-queue-is-outgoing-msmq-management-code")  # fmt: skip


@fault("query-refuses-with-another-code", Objects.query, *_REFUSED)
def query_refuses_with_another_code(plain, self, handle, iid):
    """An interface that an object lacks is answered E_INVALIDARG."""
    try:
        return plain(handle, iid)
    except MqError as failure:
        raise MqError(E_INVALIDARG if failure.status == E_NOINTERFACE else failure.status) from None


@fault(
    "query-finds-every-interface", Objects.query, "3.4.3.variable-queue-is-outgoing-msmq-management",
    "3.5.3.variable-queue-is-outgoing-msmq-management",
)  # fmt: skip
def query_finds_every_interface(plain, self, handle, iid):
    """An object can be asked for every interface."""
    found: str = self.handle(self.held(handle))
    return found


@fault("objects-cannot-be-asked-for-idispatch", Objects.query, "3.1.client-active-x-i-unknown")
def objects_cannot_be_asked_for_idispatch(plain, self, handle, iid):
    """No object can be asked for IDispatch."""
    if iid.lower() == IDISPATCH:
        raise MqError(E_NOINTERFACE)
    return plain(handle, iid)


# Connection points.
_FIND = "3.16.4.6.2."


@fault(
    "event-has-every-connection-point", Objects.event_source, _FIND + "input-riid-iid-dmsmq-event-events",
    _FIND + "return-connect-e-noconnection",
)  # fmt: skip
def event_has_every_connection_point(plain, self, handle, iid):
    """FindConnectionPoint finds one for every interface."""
    target = self.held(handle)
    return target if isinstance(target, EventObject) else plain(handle, iid)


@fault(
    "event-has-no-connection-point", Objects.event_source, _FIND + "output-pp-cp-i-connection-point",
    _FIND + "purpose", _FIND + "status",
)  # fmt: skip
def event_has_no_connection_point(plain, self, handle, iid):
    """FindConnectionPoint finds none."""
    plain(handle, iid)
    raise MqError(CONNECT_E_NOCONNECTION)


@fault("connection-point-is-refused-with-another-code", Objects.event_source, _FIND + "return-connect-e-noconnection")
def connection_point_is_refused_with_another_code(plain, self, handle, iid):
    """A connection point that is not there is answered E_INVALIDARG."""
    try:
        return plain(handle, iid)
    except MqError as failure:
        raise MqError(E_INVALIDARG if failure.status == CONNECT_E_NOCONNECTION else failure.status) from None


INTERFACES: Final = (
    "IMSMQApplication", "IMSMQApplication2", "IMSMQApplication3", "IMSMQManagement", "IMSMQQueueManagement",
    "IMSMQOutgoingQueueManagement", "IMSMQTransactionDispenser3", "IMSMQCoordinatedTransactionDispenser3",
    "IMSMQTransaction", "IMSMQTransaction2", "IMSMQTransaction3", "IMSMQDestination", "IMSMQPrivateDestination",
    "IMSMQQuery4", "IMSMQQueueInfos4", "IMSMQCollection", "IMSMQEvent2", "IMSMQPrivateEvent", "_DMSMQEventEvents",
)  # fmt: skip
"""Interfaces whose members are described."""
REVISED: Final = {
    "IMSMQApplication": (3, "3.2.4"), "IMSMQTransactionDispenser": (3, "3.6.4"),
    "IMSMQCoordinatedTransactionDispenser": (3, "3.7.4"), "IMSMQTransaction": (3, "3.9.4"),
    "IMSMQQuery": (4, "3.13.4"), "IMSMQQueueInfos": (4, "3.14.4"), "IMSMQEvent": (3, "3.16.4"),
}  # fmt: skip
"""Families of interfaces: the number of their revisions, and the section with the table of their members."""


def _member_word(member: Member) -> str:
    prefix = "" if member.kind == "method" else f"{member.kind}-"
    return prefix + kebab(member.called)


def _is_same(given: Member, wanted: Member) -> bool:
    return (given.kind, given.called) == (wanted.kind, wanted.called)


def _with_changed_member(interface: str, member: Member, **changes: Any) -> Any:
    def members(self: Any, name: str) -> tuple[Member, ...]:
        found = TypeLibrary.members(self, name)
        if name != interface:
            return found
        return tuple(replace(each, **changes) if _is_same(each, member) else each for each in found)

    return members


def _without(interface: str, member: Member) -> Any:
    def members(self: Any, name: str) -> tuple[Member, ...]:
        found = TypeLibrary.members(self, name)
        return found if name != interface else tuple(each for each in found if not _is_same(each, member))

    return members


def _members() -> None:
    for interface in INTERFACES:
        sections = {each.opnum: each.section for each in METHODS[interface]}
        for member in declared(interface):
            word, called = _member_word(member), f"{member.kind} {member.name} of {interface}"
            breaks = (f"{sections[member.slot]}.{word}-method",)
            name = f"{kebab(interface)}-{word}"
            _register(
                f"{name}-has-another-opnum", f"{called} is greater by 50 than its opnum.", breaks,
                members=_with_changed_member(interface, member, slot=member.slot + 50),
            )  # fmt: skip
            if member.arguments:
                first = replace(member.arguments[0], name="other")
                _register(
                    f"{name}-calls-an-argument-otherwise", f"The first argument of {called} is called other.", breaks,
                    members=_with_changed_member(interface, member, arguments=(first, *member.arguments[1:])),
                )  # fmt: skip


def _without_members() -> None:
    for family, (count, section) in REVISED.items():
        known: set[tuple[str, str]] = set()
        for revision in range(1, count + 1):
            interface = family + (str(revision) if revision > 1 else "")
            for member in declared(interface):
                if (member.kind, member.called) in known:
                    continue
                known.add((member.kind, member.called))
                also = ", and those that repeat it have it" if family in REVISIONS else ""
                _register(
                    f"{kebab(interface)}-lacks-{_member_word(member)}", f"{interface} has no {member.name}{also}.",
                    (f"{section}.{_member_word(member)}-revisions",), members=_without(interface, member),
                )  # fmt: skip


def _constants() -> None:
    for enumeration, found in ENUMERATIONS.items():
        if not found.source.startswith("MC-MQAC 2.2.2"):
            continue
        section = found.source.removeprefix("MC-MQAC ")
        for constant in found.members:
            if CONSTANTS.get(enumeration, ("",))[0] == constant:
                continue  # it has a fault there
            word = constant.lower().replace("_", "-")
            _register(
                f"{word}-is-1000-more", f"{constant} of {enumeration} is greater by 1000.", (f"{section}.{word}",),
                constants=_another(enumeration, constant),
            )  # fmt: skip


def _another(enumeration: str, constant: str) -> Any:
    def constants(self: Any) -> dict[str, dict[str, int]]:
        found = TypeLibrary.constants(self)
        found[enumeration] = {**found[enumeration], constant: found[enumeration][constant] + 1000}
        return found

    return constants


_members()
_without_members()
_constants()
