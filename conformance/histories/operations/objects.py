"""The eight methods of the facet `objects`: which acts of a plan call them, with what, and what their results say.

An act calls a member by `objects.invoke`; the row of the member is the case, and has the features. Acts for the other
methods are written as calls of members that no class has: `QueryInterface`, `Release`, `Advise`, `Unadvise`, `Get` for
several properties at once, and `Describe`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from conformance.activex.expected import Invoke, Seen
from conformance.activex.features import Feature
from conformance.activex.plans import Act
from conformance.activex.values import S_OK, Variant
from conformance.activex.words import act_line
from conformance.histories.features.objects import FEATURES
from conformance.model.values import replace

if TYPE_CHECKING:
    from conformance.adapter.client import Result

Handles = Mapping[str, str]
"""The names that a plan has for its objects to the names that the driver has."""
OBJECT: Final = frozenset({"DISPATCH", "UNKNOWN"})


@dataclass(frozen=True, slots=True)
class ObjectOperation:
    """One method, with everything the harness knows of it outside the tables of members.

    member: the name by which an act calls the method; empty for one that `invoked` tells otherwise. request: makes the
    parameters; raises KeyError for an object that no answer has handed out. answer: what a result says, with the
    plan's names of the objects in it. story: the act in words. features: of each member that the method calls, by name.
    waits: a call may have no answer for a while.
    """

    method: str
    request: Callable[[Act, Handles], dict[str, Any]]
    answer: Callable[[Result, Handles], Seen]
    member: str = ""
    story: Callable[[Act], str] = act_line
    features: Mapping[str, tuple[Feature, ...]] = field(default_factory=dict)
    waits: bool = False


def named(value: Variant, handles: Handles) -> Variant:
    """Return a value with the plan's name of an object that it knows, in the place of the driver's."""
    if value.vt not in OBJECT or value.value is None:
        return value
    return replace(value, value=next((name for name, its in handles.items() if its == value.value), value.value))


def handed(value: Variant, handles: Handles) -> Variant:
    """Return an argument with the driver's name of an object. Raises KeyError for one that nothing has handed out."""
    return replace(value, value=handles[value.value]) if value.vt in OBJECT and value.value is not None else value


def objects_of(call: Invoke) -> list[str]:
    """Return the plan's names of the objects that a call hands over."""
    return [str(one.value) for one in call.arguments if one.vt in OBJECT and one.value is not None]


def _called(act: Act) -> Invoke:
    if act.call is None:
        raise KeyError(act.object)
    return act.call


def _plain(act: Act) -> list[Any]:
    return [one.value for one in _called(act).arguments]


def _status(result: Result) -> int:
    return int(result.status or 0)


def _create(act: Act, handles: Handles) -> dict[str, Any]:
    return {"class": act.coclass}


def _invoke(act: Act, handles: Handles) -> dict[str, Any]:
    call = _called(act)
    arguments = [handed(one, handles).to_json() for one in call.arguments]
    return {"object": handles[act.object], "member": call.member, "kind": call.kind, "arguments": arguments}


def _get(act: Act, handles: Handles) -> dict[str, Any]:
    return {"object": handles[act.object], "members": _plain(act)}


def _query(act: Act, handles: Handles) -> dict[str, Any]:
    return {"object": handles[act.object], "iid": _plain(act)[0]}


def _release(act: Act, handles: Handles) -> dict[str, Any]:
    return {"objects": [handles[act.object]]}


def _advise(act: Act, handles: Handles) -> dict[str, Any]:
    sink, iid = _plain(act)
    return {"object": handles[act.object], "sink": sink, "iid": iid}


def _unadvise(act: Act, handles: Handles) -> dict[str, Any]:
    cookie, iid = _plain(act)
    return {"object": handles[act.object], "cookie": cookie, "iid": iid}


def _describe(act: Act, handles: Handles) -> dict[str, Any]:
    return {"class": _plain(act)[0]}


def _of_status(result: Result, handles: Handles) -> Seen:
    return Seen(_status(result))


def _of_value(result: Result, handles: Handles) -> Seen:
    shown = result.values.get("value")
    return Seen(_status(result), None if shown is None else named(Variant.from_json(shown), handles))


def _of_object(result: Result, handles: Handles) -> Seen:
    given = result.values.get("object")
    if result.status != S_OK or given is None:
        return Seen(_status(result))
    return Seen(S_OK, named(Variant("DISPATCH", str(given)), handles))


def _of_cookie(result: Result, handles: Handles) -> Seen:
    cookie = result.values.get("cookie")
    return Seen(_status(result), None if cookie is None else Variant("UI4", int(cookie)))


def each_got(result: Result, members: Iterable[str]) -> dict[str, Seen]:
    """Return what `objects.get` tells of each member that it was asked for."""
    values = result.values.get("values") or ()
    each = (
        Seen(int(one["status"] or 0), Variant.from_json(one["value"]) if "value" in one else None) for one in values
    )
    return dict(zip(members, each, strict=False))


OPERATIONS: Final[tuple[ObjectOperation, ...]] = (
    ObjectOperation("objects.create", _create, _of_object),
    ObjectOperation("objects.invoke", _invoke, _of_value, features=FEATURES, waits=True),
    ObjectOperation("objects.get", _get, _of_status, "Get"),
    ObjectOperation("objects.query", _query, _of_object, "QueryInterface"),
    ObjectOperation("objects.release", _release, _of_status, "Release"),
    ObjectOperation("objects.advise", _advise, _of_cookie, "Advise"),
    ObjectOperation("objects.unadvise", _unadvise, _of_status, "Unadvise"),
    ObjectOperation("objects.describe", _describe, _of_status, "Describe"),
)
_BY_MEMBER: Final = {one.member: one for one in OPERATIONS if one.member}
CREATE, INVOKE, GET = OPERATIONS[:3]


def operation(act: Act) -> ObjectOperation:
    """Return the method that an act calls."""
    return CREATE if act.call is None else _BY_MEMBER.get(act.call.member, INVOKE)
