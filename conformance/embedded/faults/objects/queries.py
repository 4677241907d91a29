"""Faults of MSMQQuery and MSMQQueueInfos, and of what they read in the directory (MC-MQAC 3.13, 3.14)."""

from __future__ import annotations

import operator
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from conformance.embedded.directory import Directory
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.objects.query import CONSTRAINTS, NOP, Constraint, QueryObject, QueueInfosObject
from conformance.embedded.objects.variants import E_FAIL, NOTHING, Variant
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


_part = partial(row, __name__)


_query = partial(row, __name__, "query")


_infos = partial(row, __name__, "queue_infos")


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
            f"{_method}-passes-over-{kebab(_argument)}", f"{_method} finds queues whatever {_argument} is.",
            (f"{_section}.{ADDS[_argument]}",), test=_passing_over(_argument, _v2),
        )  # fmt: skip
        if _constraint.relation:
            _query(
                f"{_method}-begins-with-another-{kebab(_constraint.relation)}",
                f"{_constraint.relation} of {_method} is REL_NEQ where it is left out.",
                (f"{_section}.{kebab(_constraint.relation)}-default",),
                relation=_starting_with(_constraint.relation, _v2),
            )  # fmt: skip
    for _argument, _rule in (("QueueGuid", "queue-guid-grammar"), ("ServiceTypeGuid", "service-type-guid-grammar")):
        _query(
            f"{_method}-takes-any-text-for-{kebab(_argument)}", f"{_argument} of {_method} can be any text.",
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
        f"query-compares-{kebab(_argument)}-for-rel-nop", f"REL_NOP compares {_argument} as REL_EQ does.",
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
    _query(f"{kebab(_member)}-fails", f"{_member} answers E_FAIL where it succeeds.",
           (f"{_section}.status", f"{_section}.initialization-msmq-queue-infos-object-succeeds"),
           invoke=_invoking(_member, _fail))  # fmt: skip
    _query(f"{kebab(_member)}-gives-nothing", f"{_member} gives NULL.",
           (f"{_section}.output-ppqinfos-imsmq-queue-infos4-parameter",),
           invoke=_invoking(_member, lambda self, found: NOTHING))  # fmt: skip
    _query(f"{kebab(_member)}-finds-nothing", f"{_member} finds no queue.",
           (f"{_section}.purpose", "3.14.3.initialized-result-queue-collection-query-constraints"),
           invoke=_invoking(_member, _emptied))  # fmt: skip
    _query(f"{kebab(_member)}-gives-a-blank-object", f"{_member} gives an object that is not initialized.",
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


def _fails(method: str) -> Any:
    def perform(self: Any) -> Any:
        getattr(QueueInfosObject, method)(self)
        raise MqError(E_FAIL)

    return {method: perform}


_S = "3.14.4.1."


@fault(
    "queue-infos-is-initialized-at-once", QueueInfosObject.__init__, "3.14.3.new-is-initialized-null-object",
    _S + "1.variable-is-initialized-equals-false", _S + "2.variable-is-initialized-equals-false",
)  # fmt: skip
def queue_infos_is_initialized_at_once(plain, self, manager, found=None):
    """An object that a client makes has an empty result."""
    plain(manager, [] if found is None else found)


@fault("queue-infos-resets-a-blank-object", QueueInfosObject.reset, _S + "1.variable-is-initialized-equals-false")
def queue_infos_resets_a_blank_object(plain, self):
    """Reset of an object that is not initialized succeeds."""
    if self.results is not None:
        plain()


@fault("queue-infos-goes-on-in-a-blank-object", QueueInfosObject.next, _S + "2.variable-is-initialized-equals-false")
def queue_infos_goes_on_in_a_blank_object(plain, self):
    """Next of an object that is not initialized gives NULL."""
    return NOTHING if self.results is None else plain()


@fault(
    "queue-infos-reset-does-nothing", QueueInfosObject.reset, _S + "1.variable-collection-cursor-queue-collection-point"
)
def queue_infos_reset_does_nothing(plain, self):
    """Reset leaves the position."""
    self.held()


_infos("queue-infos-reset-fails", "Reset goes back and fails.", (_S + "1.status",), **_fails("reset"))
_infos("queue-infos-next-fails", "Next goes on and fails.", (_S + "2.status",), **_fails("next"))


@fault("queue-infos-fails-at-the-end", QueueInfosObject.next, _S + "2.output-ppqinfo-next-null-parameter")
def queue_infos_fails_at_the_end(plain, self):
    """Next behind the last queue fails."""
    if self.results is not None and self.place >= len(self.results):
        raise MqError(E_FAIL)
    return plain()


@fault("queue-infos-begins-again-at-the-end", QueueInfosObject.next, _S + "2.output-ppqinfo-next-null-parameter")
def queue_infos_begins_again_at_the_end(plain, self):
    """Next behind the last queue gives the first."""
    if self.results and self.place >= len(self.results):
        self.place = 0
    return plain()


@fault("queue-infos-never-goes-on", QueueInfosObject.advance, _S + "2.advance-cursor-collection-cursor")
def queue_infos_never_goes_on(plain, self):
    """Next gives the first queue again and again."""
    return


@fault("queue-infos-passes-over-every-other", QueueInfosObject.advance, _S + "2.advance-cursor-collection-cursor")
def queue_infos_passes_over_every_other(plain, self):
    """Next passes over every other queue."""
    return setattr(self, "place", self.place + 2)


@fault("queue-infos-does-not-refresh", QueueInfosObject.fill, _S + "2.call-msmq-queue-info-refresh-created")
def queue_infos_does_not_refresh(plain, self, info):
    """Next gives an object that knows a name alone."""
    return setattr(info, "is_refreshed", True)


@fault("queue-infos-gives-another-name", QueueInfosObject.told, _S + "2.variable-queue-format-name")
def queue_infos_gives_another_name(plain, self, found):
    """Next gives an object with the name of another queue."""
    info = plain(found).value
    info.format_name = f"PUBLIC={uuid.UUID(int=7)}"
    return Variant("DISPATCH", info)


@fault("queue-infos-gives-one-object", QueueInfosObject.told, _S + "2.create-msmq-queue-info-new-object")
def queue_infos_gives_one_object(plain, self, found):
    """Next gives the same object each time."""
    if getattr(self, "given", None) is None:
        self.given = plain(found)
    given: Variant = self.given
    return given


@fault("queue-infos-gives-no-object", QueueInfosObject.told, _S + "2.output-ppqinfo-next-imsmq-query-info4")
def queue_infos_gives_no_object(plain, self, found):
    """Next goes on and gives NULL."""
    return NOTHING


@fault("query-finds-aliases-too", Directory.queues, "3.13.4.1.1.purpose", "3.13.4.1.3.purpose")
def query_finds_aliases_too(plain, self):
    """A query finds aliases and distribution lists."""
    return self.all()


@fault("query-passes-over-queues-of-this-manager", Directory.queues, "3.13.4.1.1.purpose", "3.13.4.1.3.purpose")
def query_passes_over_queues_of_this_manager(plain, self):
    """A query finds queues of others alone."""
    return (each for each in self._given if each.kind == "queue")


@fault(
    "lookup-queue-takes-an-empty-address-for-none", QueryObject.test,
    "3.13.4.1.3.multicast-address-empty-multicast-address-string",
)  # fmt: skip
def lookup_queue_takes_an_empty_address_for_none(plain, self, constraint, given):
    """LookupQueue with an empty address finds every queue."""
    asked = given.get(constraint.argument)
    if constraint.argument == "MulticastAddress" and asked is not None and asked.vt == "BSTR" and not asked.value:
        return None
    return plain(constraint, given)
