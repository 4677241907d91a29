"""Faults of MSMQQuery and MSMQQueueInfos, and of what they read in the directory (MC-MQAC 3.13, 3.14)."""

from __future__ import annotations

import operator
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.embedded.directory import Directory
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.faults.objects.members_declared import spoken
from conformance.embedded.objects.codes import E_FAIL
from conformance.embedded.objects.query import CONSTRAINTS, NOP, Constraint, QueryObject, QueueInfosObject
from conformance.embedded.objects.variants import NOTHING, Variant
from conformance.embedded.receiving import Caller
from conformance.spec.constants.enumerations import ENUMERATIONS

METHODS: Final = {"lookup-queue-v2": ("look_up_v2", "3.13.4.1.1"), "lookup-queue": ("look_up", "3.13.4.1.3")}
"""The methods, with what performs each and their sections."""
ADDS: Final = {
    "QueueGuid": "add-equals-queue-guid-identifier", "ServiceTypeGuid": "add", "Label": "add-rel-label-op-label",
    "CreateTime": "add-create-time", "ModifyTime": "add-modify-time", "MulticastAddress": "add-multicast-address",
}  # fmt: skip
"""Arguments with the demand that each narrows the query."""
_RELATIONS: Final = {name: value for name, value in ENUMERATIONS["RELOPS"].members.items() if value != NOP}
_WRONG: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "REL_EQ": operator.ne, "REL_NEQ": operator.eq, "REL_LT": operator.le, "REL_GT": operator.ge, "REL_LE": operator.lt,
    "REL_GE": operator.gt,
}  # fmt: skip


def _part(part: str, base: type, name: str, story: str, breaks: tuple[str, ...], **methods: Any) -> None:
    ids = tuple(f"MQAC-{each}" for each in breaks)
    fault(__name__, name, story, ids, (part, type("_Deviating", (base,), methods)))


def _query(name: str, story: str, breaks: tuple[str, ...], **methods: Any) -> None:
    _part("query", QueryObject, name, story, breaks, **methods)


def _infos(name: str, story: str, breaks: tuple[str, ...], **methods: Any) -> None:
    _part("queue_infos", QueueInfosObject, name, story, breaks, **methods)


def _is_v2(given: Mapping[str, Variant]) -> bool:
    return "MulticastAddress" not in given


def _passing_over(argument: str, v2: bool) -> Any:
    def test(self: Any, constraint: Constraint, given: Mapping[str, Variant]) -> Any:
        if constraint.argument == argument and _is_v2(given) is v2:
            return None
        return QueryObject.test(self, constraint, given)

    return test


def _starting_with(relation: str, v2: bool) -> Any:
    def asked(self: Any, constraint: Constraint, given: Mapping[str, Variant]) -> int:
        found = given.get(constraint.relation)
        if constraint.relation == relation and _is_v2(given) is v2 and (found is None or found.left_out):
            return _RELATIONS["REL_NEQ"]
        return QueryObject.relation(self, constraint, given)

    return asked


def _not_refusing(argument: str, v2: bool) -> Any:
    def test(self: Any, constraint: Constraint, given: Mapping[str, Variant]) -> Any:
        try:
            return QueryObject.test(self, constraint, given)
        except MqError:
            if constraint.argument == argument and _is_v2(given) is v2:
                return None
            raise

    return test


for _method, (_attribute, _section) in METHODS.items():
    _v2 = _method.endswith("v2")
    for _constraint in CONSTRAINTS[: 5 if _v2 else 6]:
        _argument = _constraint.argument
        _query(
            f"{_method}-passes-over-{spoken(_argument)}", f"{_method} finds queues whatever {_argument} is.",
            (f"{_section}.{ADDS[_argument]}",), test=_passing_over(_argument, _v2),
        )  # fmt: skip
        if _constraint.relation:
            _query(
                f"{_method}-begins-with-another-{spoken(_constraint.relation)}",
                f"{_constraint.relation} of {_method} is REL_NEQ where it is left out.",
                (f"{_section}.{spoken(_constraint.relation)}-default",),
                relation=_starting_with(_constraint.relation, _v2),
            )  # fmt: skip
    for _argument, _rule in (("QueueGuid", "queue-guid-grammar"), ("ServiceTypeGuid", "service-type-guid-grammar")):
        _query(
            f"{_method}-takes-any-text-for-{spoken(_argument)}", f"{_argument} of {_method} can be any text.",
            (f"{_section}.{_rule}", f"{_section}.guid-rule", f"{_section}.return-hresult-error"),
            test=_not_refusing(_argument, _v2),
        )  # fmt: skip


def _compared(relation: str) -> Any:
    def test(self: Any, constraint: Constraint, given: Mapping[str, Variant]) -> Any:
        found, asked = QueryObject.test(self, constraint, given), given.get(constraint.argument)
        if found is None or asked is None or asked.left_out or constraint.relation == "":
            return found
        if self.relation(constraint, given) != _RELATIONS[relation]:
            return found
        wanted, compare = constraint.understand(asked), _WRONG[relation]
        return lambda queue: compare(constraint.kept(queue.properties.get(constraint.stored)), wanted)

    return test


for _relation in _RELATIONS:
    _query(
        f"query-compares-otherwise-for-{_relation.lower().replace('_', '-')}",
        f"{_relation} is the operator of another relation.",
        (f"2.2.2.20.{_relation.lower().replace('_', '-')}-row", *(f"{section}.define-rel-service-type-op" for _, section
         in METHODS.values())), test=_compared(_relation),
    )  # fmt: skip


def _heeding_nop(argument: str) -> Any:
    def relation(self: Any, constraint: Constraint, given: Mapping[str, Variant]) -> int:
        found = QueryObject.relation(self, constraint, given)
        return _RELATIONS["REL_EQ"] if constraint.argument == argument and found == NOP else found

    return relation


for _constraint in CONSTRAINTS[1:]:
    _argument = _constraint.argument
    _query(
        f"query-compares-{spoken(_argument)}-for-rel-nop", f"REL_NOP compares {_argument} as REL_EQ does.",
        tuple(f"{section}.{ADDS[_argument]}" for method, (_, section) in METHODS.items()
              if _argument != "MulticastAddress" or method == "lookup-queue"), relation=_heeding_nop(_argument),
    )  # fmt: skip


def _invoking(member: str, instead: Callable[[Any, Variant | None], Variant | None], kind: str = "method") -> Any:
    def invoke(self: Any, name: str, how: str, given: list[Variant], caller: Caller | None) -> Variant | None:
        found: Variant | None = QueryObject.invoke(self, name, how, given, caller)
        return instead(self, found) if name.lower() == member.lower() and how == kind else found

    return invoke


def _fail(self: Any, found: Variant | None) -> Variant | None:
    raise MqError(E_FAIL)


def _emptied(self: Any, found: Variant | None) -> Variant | None:
    return Variant("DISPATCH", self.manager.parts.queue_infos(self.manager, []))


def _blank(self: Any, found: Variant | None) -> Variant | None:
    return Variant("DISPATCH", self.manager.parts.queue_infos(self.manager))


for _member, (_, _section) in (
    ("LookupQueue_v2", METHODS["lookup-queue-v2"]),
    ("LookupQueue", METHODS["lookup-queue"]),
):
    _query(f"{spoken(_member)}-fails", f"{_member} answers E_FAIL where it succeeds.",
           (f"{_section}.status", f"{_section}.initialization-msmq-queue-infos-object-succeeds"),
           invoke=_invoking(_member, _fail))  # fmt: skip
    _query(f"{spoken(_member)}-gives-nothing", f"{_member} gives NULL.",
           (f"{_section}.output-ppqinfos-imsmq-queue-infos4-parameter",),
           invoke=_invoking(_member, lambda self, found: NOTHING))  # fmt: skip
    _query(f"{spoken(_member)}-finds-nothing", f"{_member} finds no queue.",
           (f"{_section}.purpose", "3.14.3.initialized-result-queue-collection-query-constraints"),
           invoke=_invoking(_member, _emptied))  # fmt: skip
    _query(f"{spoken(_member)}-gives-a-blank-object", f"{_member} gives an object that is not initialized.",
           ("3.14.3.provide-server-msmq-query-lookup-queue", "3.14.3.after-is-initialized-initialization-complete"),
           invoke=_invoking(_member, _blank))  # fmt: skip


def _implementing(base: type) -> Any:
    def invoke(self: Any, name: str, kind: str, given: list[Variant], caller: Caller | None) -> Variant | None:
        if name.lower() == "properties":
            return NOTHING
        found: Variant | None = base.invoke(self, name, kind, given, caller)  # type: ignore[attr-defined]
        return found

    return invoke


_query("query-implements-properties", "get Properties of MSMQQuery succeeds.", ("3.13.4.1.2.not-implemented",
       "3.13.4.1.2.server-e-notimpl-0x80004001-return"), invoke=_implementing(QueryObject))  # fmt: skip
_infos("queue-infos-implements-properties", "get Properties of MSMQQueueInfos succeeds.", (
       "3.14.4.1.3.not-implemented", "3.14.4.1.3.properties-e-notimpl-0x80004001-method"),
       invoke=_implementing(QueueInfosObject))  # fmt: skip

# MSMQQueueInfos.


def _ready(self: Any, manager: Any, found: Any = None) -> None:
    QueueInfosObject.__init__(self, manager, [] if found is None else found)


def _reset_of_blank(self: Any) -> None:
    if self.results is not None:
        QueueInfosObject.reset(self)


def _next_of_blank(self: Any) -> Variant:
    return NOTHING if self.results is None else QueueInfosObject.next(self)


def _checks_alone(self: Any) -> None:
    self.held()


def _ending(self: Any) -> Variant:
    if self.results is not None and self.place >= len(self.results):
        raise MqError(E_FAIL)
    return QueueInfosObject.next(self)


def _round(self: Any) -> Variant:
    if self.results and self.place >= len(self.results):
        self.place = 0
    return QueueInfosObject.next(self)


def _another_name(self: Any, found: Any) -> Variant:
    info = QueueInfosObject.told(self, found).value
    info.format_name = f"PUBLIC={uuid.UUID(int=7)}"
    return Variant("DISPATCH", info)


def _same_object(self: Any, found: Any) -> Variant:
    if getattr(self, "given", None) is None:
        self.given = QueueInfosObject.told(self, found)
    given: Variant = self.given
    return given


def _fails(method: str) -> Any:
    def perform(self: Any) -> Any:
        getattr(QueueInfosObject, method)(self)
        raise MqError(E_FAIL)

    return {method: perform}


_S = "3.14.4.1."
_infos("queue-infos-is-initialized-at-once", "An object that a client makes has an empty result.",
       ("3.14.3.new-is-initialized-null-object", _S + "1.variable-is-initialized-equals-false",
        _S + "2.variable-is-initialized-equals-false"), __init__=_ready)  # fmt: skip
_infos("queue-infos-resets-a-blank-object", "Reset of an object that is not initialized succeeds.",
       (_S + "1.variable-is-initialized-equals-false",), reset=_reset_of_blank)  # fmt: skip
_infos("queue-infos-goes-on-in-a-blank-object", "Next of an object that is not initialized gives NULL.",
       (_S + "2.variable-is-initialized-equals-false",), next=_next_of_blank)  # fmt: skip
_infos(
    "queue-infos-reset-does-nothing",
    "Reset leaves the position.",
    (_S + "1.variable-collection-cursor-queue-collection-point",),
    reset=_checks_alone,
)
_infos("queue-infos-reset-fails", "Reset goes back and fails.", (_S + "1.status",), **_fails("reset"))
_infos("queue-infos-next-fails", "Next goes on and fails.", (_S + "2.status",), **_fails("next"))
_infos("queue-infos-fails-at-the-end", "Next behind the last queue fails.",
       (_S + "2.output-ppqinfo-next-null-parameter",), next=_ending)  # fmt: skip
_infos("queue-infos-begins-again-at-the-end", "Next behind the last queue gives the first.",
       (_S + "2.output-ppqinfo-next-null-parameter",), next=_round)  # fmt: skip
_infos("queue-infos-never-goes-on", "Next gives the first queue again and again.",
       (_S + "2.advance-cursor-collection-cursor",), advance=lambda self: None)  # fmt: skip
_infos(
    "queue-infos-passes-over-every-other",
    "Next passes over every other queue.",
    (_S + "2.advance-cursor-collection-cursor",),
    advance=lambda self: setattr(self, "place", self.place + 2),
)
_infos("queue-infos-does-not-refresh", "Next gives an object that knows a name alone.",
       (_S + "2.call-msmq-queue-info-refresh-created",),
       fill=lambda self, info: setattr(info, "is_refreshed", True))  # fmt: skip
_infos("queue-infos-gives-another-name", "Next gives an object with the name of another queue.",
       (_S + "2.variable-queue-format-name",), told=_another_name)  # fmt: skip
_infos("queue-infos-gives-one-object", "Next gives the same object each time.",
       (_S + "2.create-msmq-queue-info-new-object",), told=_same_object)  # fmt: skip
_infos("queue-infos-gives-no-object", "Next goes on and gives NULL.",
       (_S + "2.output-ppqinfo-next-imsmq-query-info4",), told=lambda self, found: NOTHING)  # fmt: skip


_part("directory", Directory, "query-finds-aliases-too", "A query finds aliases and distribution lists.",
      ("3.13.4.1.1.purpose", "3.13.4.1.3.purpose"), queues=lambda self: self.all())  # fmt: skip
_part("directory", Directory, "query-passes-over-queues-of-this-manager", "A query finds queues of others alone.",
      ("3.13.4.1.1.purpose", "3.13.4.1.3.purpose"),
      queues=lambda self: (each for each in self._given if each.kind == "queue"))  # fmt: skip


class _Addressed(QueryObject):
    def test(self, constraint: Constraint, given: Mapping[str, Variant]) -> Any:
        asked = given.get(constraint.argument)
        if constraint.argument == "MulticastAddress" and asked is not None and asked.vt == "BSTR" and not asked.value:
            return None
        return super().test(constraint, given)


fault(__name__, "lookup-queue-takes-an-empty-address-for-none", "LookupQueue with an empty address finds every queue.",
      ("MQAC-3.13.4.1.3.multicast-address-empty-multicast-address-string",), ("query", _Addressed))  # fmt: skip
