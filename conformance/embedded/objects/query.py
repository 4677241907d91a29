"""MSMQQuery and MSMQQueueInfos (MC-MQAC 3.13, 3.14): public queues looked up in the directory."""

from __future__ import annotations

import operator
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from conformance.embedded.directory import DirectoryObject, of_attributes
from conformance.embedded.directory_objects import QUEUE
from conformance.embedded.entities import MqError
from conformance.embedded.objects.variants import (
    E_INVALIDARG,
    INTEGERS,
    METHOD,
    NOTHING,
    UNIX_EPOCH_DAYS,
    ComObject,
    Variant,
    as_integer,
    member,
)
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.hresults import MQ_ERROR_UNINITIALIZED_OBJECT

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Compare = Callable[[Any, Any], bool]
Test = Callable[[DirectoryObject], bool]
_RELOPS = ENUMERATIONS["RELOPS"].members
NOP, EQ = _RELOPS["REL_NOP"], _RELOPS["REL_EQ"]
OPERATORS: Final[Mapping[int, Compare]] = {
    EQ: operator.eq, _RELOPS["REL_NEQ"]: operator.ne, _RELOPS["REL_LT"]: operator.lt,
    _RELOPS["REL_GT"]: operator.gt, _RELOPS["REL_LE"]: operator.le, _RELOPS["REL_GE"]: operator.ge,
}  # fmt: skip
"""Operators of attribute-filter expressions (2.2.2.20, MS-MQDMPR 3.1.7.1.20)."""
_WORDS = ("EQUALS", "NOT-EQUALS", "LESS-THAN", "GREATER-THAN", "LESS-THAN-OR-EQUAL", "GREATER-THAN-OR-EQUAL")
WORDS: Final = dict(zip(OPERATORS, _WORDS, strict=True))
ATTRIBUTES: Final = {stored: name for name, (stored, _) in QUEUE.items()}
_BRACED = re.compile(r"\{[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\}\Z")
_SECONDS_A_DAY = 86_400


def guid_of(given: Variant) -> bytes:
    """Return a GUID given as text in braces. Raises MqError(E_INVALIDARG)."""
    if given.vt != "BSTR" or not _BRACED.match(given.value or ""):
        raise MqError(E_INVALIDARG)
    return uuid.UUID(given.value).bytes


def text_of(given: Variant) -> str:
    """Return a text, without difference of case; NULL is empty. Raises MqError(E_INVALIDARG)."""
    if given.vt != "BSTR":
        raise MqError(E_INVALIDARG)
    return str(given.value or "").lower()


def seconds_of(given: Variant) -> int:
    """Return a DATE, or a number of days, as seconds since 1970. Raises MqError(E_INVALIDARG)."""
    if given.vt not in ("DATE", "R4", "R8", *INTEGERS):
        raise MqError(E_INVALIDARG)
    try:
        return round((float(given.value) - UNIX_EPOCH_DAYS) * _SECONDS_A_DAY)
    except (ValueError, OverflowError):
        raise MqError(E_INVALIDARG) from None


def _text_kept(value: Any) -> str:
    return str(value or "").lower()


def _guid_kept(value: Any) -> bytes:
    return uuid.UUID(str(value)).bytes


@dataclass(frozen=True, slots=True)
class Constraint:
    """A comparison of a query. argument: the operand. relation: the operator, empty for EQUALS alone.

    stored: the property that is compared. understand: makes the operand of the argument. kept: that of the property.
    """

    argument: str
    relation: str
    stored: str
    understand: Callable[[Variant], Any]
    kept: Callable[[Any], Any]


CONSTRAINTS: Final = (
    Constraint("QueueGuid", "", "PROPID_Q_INSTANCE", guid_of, _guid_kept),
    Constraint("ServiceTypeGuid", "RelServiceType", "PROPID_Q_TYPE", guid_of, _guid_kept),
    Constraint("Label", "RelLabel", "PROPID_Q_LABEL", text_of, _text_kept),
    Constraint("CreateTime", "RelCreateTime", "PROPID_Q_CREATE_TIME", seconds_of, int),
    Constraint("ModifyTime", "RelModifyTime", "PROPID_Q_MODIFY_TIME", seconds_of, int),
    Constraint("MulticastAddress", "RelMulticastAddress", "PROPID_Q_MULTICAST_ADDRESS", text_of, _text_kept),
)
_OLDER = (
    "QueueGuid", "ServiceTypeGuid", "Label", "CreateTime", "ModifyTime", "RelServiceType", "RelLabel",
    "RelCreateTime", "RelModifyTime",
)  # fmt: skip
_NEWER = (*_OLDER, "MulticastAddress", "RelMulticastAddress")


class QueryObject(ComObject):
    """A maker of queries, which has no state."""

    CLASS = "MSMQQuery"
    INTERFACES: ClassVar[tuple[str, ...]] = ("IMSMQQuery4", "IMSMQQuery3", "IMSMQQuery2", "IMSMQQuery")

    @member(METHOD, "LookupQueue_v2", _OLDER)
    def look_up_v2(self, *given: Variant) -> Variant:
        """Look queues up, whatever their multicast address is (3.13.4.1.1)."""
        return self.found(dict(zip(_OLDER, given, strict=True)))

    @member(METHOD, "LookupQueue", _NEWER)
    def look_up(self, *given: Variant) -> Variant:
        """Look queues up (3.13.4.1.3)."""
        return self.found(dict(zip(_NEWER, given, strict=True)))

    def found(self, given: Mapping[str, Variant]) -> Variant:
        """Return the queues that satisfy every expression. Raises MqError for an operand or operator that is none."""
        if self.manager.integration.integrated:
            expressions = [made for each in CONSTRAINTS if (made := self.expression(each, given)) is not None]
            queues = [of_attributes(each) for each in self.manager.integration.found("queue", expressions)]
            return Variant("DISPATCH", self.manager.parts.queue_infos(self.manager, queues))
        tests = [test for each in CONSTRAINTS if (test := self.test(each, given)) is not None]
        found = [each for each in self.manager.directory.queues() if all(test(each) for test in tests)]
        return Variant("DISPATCH", self.manager.parts.queue_infos(self.manager, found))

    def expression(self, constraint: Constraint, given: Mapping[str, Variant]) -> dict[str, Any] | None:
        """Return the attribute-filter expression that an argument adds to a query of the directory."""
        asked = given.get(constraint.argument)
        if asked is None or asked.left_out or (relation := self.relation(constraint, given)) == NOP:
            return None
        value = constraint.understand(asked)
        if asked.vt == "BSTR":
            value = str(uuid.UUID(bytes=value)) if isinstance(value, bytes) else asked.value or ""
        return {"attribute": ATTRIBUTES[constraint.stored], "operator": WORDS[relation], "value": value}

    def test(self, constraint: Constraint, given: Mapping[str, Variant]) -> Test | None:
        """Return the expression that an argument adds; None if it is left out, or the operator is REL_NOP."""
        if constraint.argument not in given:
            return None
        relation = self.relation(constraint, given)
        asked = given[constraint.argument]
        if asked.left_out:
            return self.test_of_nothing(constraint)
        if relation == NOP:
            return None
        compare, wanted = OPERATORS[relation], constraint.understand(asked)
        return lambda found: compare(constraint.kept(found.properties.get(constraint.stored)), wanted)

    def test_of_nothing(self, constraint: Constraint) -> Test | None:
        """Return the expression that an argument adds by being left out."""
        return None

    def relation(self, constraint: Constraint, given: Mapping[str, Variant]) -> int:
        """Return the operator, a RELOPS; REL_EQ if it is left out. Raises MqError(E_INVALIDARG)."""
        asked = given.get(constraint.relation)
        if asked is None or asked.left_out:
            return self.default_relation(constraint)
        try:
            relation = as_integer(asked)
        except MqError:
            raise MqError(E_INVALIDARG) from None
        if relation != NOP and relation not in OPERATORS:
            raise MqError(E_INVALIDARG)
        return relation

    def default_relation(self, constraint: Constraint) -> int:
        """Return the operator of a call that leaves it out."""
        return EQ


class QueueInfosObject(ComObject):
    """The result of a query. found: the queues, None if a client made the object. place: how many were given."""

    CLASS = "MSMQQueueInfos"
    INTERFACES: ClassVar[tuple[str, ...]] = (
        "IMSMQQueueInfos4",
        "IMSMQQueueInfos3",
        "IMSMQQueueInfos2",
        "IMSMQQueueInfos",
    )

    def __init__(self, manager: Manager, found: list[DirectoryObject] | None = None) -> None:
        """Hold the result of a query, in front of its first queue (3.14.3)."""
        super().__init__(manager)
        self.results = found
        self.place = 0

    def held(self) -> list[DirectoryObject]:
        """Return the result. Raises MqError if the object is not initialized."""
        if self.results is None:
            raise MqError(MQ_ERROR_UNINITIALIZED_OBJECT)
        return self.results

    @member(METHOD, "Reset")
    def reset(self) -> None:
        """Go back in front of the first queue (3.14.4.1.1)."""
        self.held()
        self.place = 0

    @member(METHOD, "Next")
    def next(self) -> Variant:
        """Return an MSMQQueueInfo of the next queue, NULL behind the last (3.14.4.1.2)."""
        results = self.held()
        if self.place >= len(results):
            return NOTHING
        told = self.told(results[self.place])
        self.advance()
        return told

    def advance(self) -> None:
        """Go behind the queue that was given."""
        self.place += 1

    def told(self, found: DirectoryObject) -> Variant:
        """Return the object of a queue, with its properties."""
        info = self.manager.parts.queue_info(self.manager, found.name)
        self.fill(info)
        return Variant("DISPATCH", info)

    def fill(self, info: Any) -> None:
        """Refresh the object; a queue that has left the directory meanwhile has none to give."""
        try:
            info.refresh()
        except MqError:
            return
