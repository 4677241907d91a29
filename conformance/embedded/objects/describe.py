"""Type information of the classes (MC-MQAC 6): their interfaces with members, and the constants of the library."""

from __future__ import annotations

from typing import Any

from conformance.embedded.objects.dispatch import ComObject, Kind, Signature
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.interfaces import INTERFACES, METHODS, Method

Json = Any
LAST_OPNUM = {
    "IMSMQQueueInfo": 36, "IMSMQQueueInfo2": 40, "IMSMQQueue": 19, "IMSMQQueue2": 25, "IMSMQQueue3": 38,
    "IMSMQMessage": 55, "IMSMQMessage2": 81, "IMSMQTransactionDispenser": 7,
}  # fmt: skip
"""Of an interface that its successor repeats and extends: its last operation. Others end with their successor."""
_NEWEST = {"IMSMQQueueInfo": "4", "IMSMQQueue": "4", "IMSMQMessage": "4", "IMSMQTransactionDispenser": "3"}


def described(target: type[ComObject]) -> dict[str, Json]:
    """Return the description of a class."""
    return {
        "interfaces": [_interface(name, target) for name in target.INTERFACES],
        "constants": constants(),
    }


def constants() -> dict[str, Json]:
    """Return the enumerations of the type library."""
    return {name: dict(each.members) for name, each in ENUMERATIONS.items() if each.source.startswith("MC-MQAC 2.2.2")}


def _interface(name: str, target: type[ComObject]) -> dict[str, Json]:
    found = INTERFACES[name]
    members = []
    last = LAST_OPNUM.get(name, 1 << 16)
    for method in METHODS.get(name) or METHODS[_newest(name)]:
        signature = _signature(method, target)
        if method.opnum <= last:
            members.append(_member(method, signature))
    return {"name": name, "iid": found.uuid, "base": found.base, "members": members}


def _newest(name: str) -> str:
    family = name.rstrip("0123456789")
    return family + _NEWEST[family]


def _signature(method: Method, target: type[ComObject]) -> Signature | None:
    """Return the member of an operation. Where section 3 prints another kind than it means, the class knows."""
    named = target.MEMBERS.get((method.invocation, method.name.lower()))
    others = [each for (_, name), each in target.MEMBERS.items() if name == method.name.lower()]
    is_first = _is_first(method)
    if len(others) == 2:
        getter, putter = sorted(others, key=lambda each: each.kind != "get")
        return getter if is_first else putter
    return named or (others[0] if others else None)


def _is_first(method: Method) -> bool:
    """Return true for the first operation of its name: the getter of a pair is in front of the putter, but for two."""
    if method.name == "SenderId":
        return method.invocation == "get"
    return (
        next(each.opnum for table in METHODS.values() if method in table for each in table if each.name == method.name)
        == method.opnum
    )


def _member(method: Method, signature: Signature | None) -> dict[str, Json]:
    told: dict[str, Json] = {"name": method.name, "slot": method.opnum}
    told["kind"] = method.invocation if signature is None else signature.kind
    if signature is not None:
        told["arguments"] = [_argument(name, kind) for name, kind in signature.arguments.items()]
    return told


def _argument(name: str, kind: Kind) -> dict[str, Json]:
    return {"name": name, "vt": kind.vt, "flags": ["in", "optional"] if kind.optional else ["in"]}
