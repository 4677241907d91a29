"""The part of `adapter check` that walks the facet `objects`: each method once, and what a read that waits must do."""

from __future__ import annotations

from contextlib import suppress

from conformance.adapter.check import DriverCheck, GiveUp, told
from conformance.adapter.client import Result
from conformance.spec.constants.interfaces import INTERFACES
from conformance.verdict import Json

_LEFT_OUT: Json = {"vt": "ERROR", "value": 0x80020004}  # DISP_E_PARAMNOTFOUND
_RECEIVE_ACCESS, _DENY_NONE = 1, 0  # MC-MQAC 2.2.2.4, 2.2.2.5


def objects(walk: DriverCheck) -> None:
    """Create a queue by its information, read it by an object, and let go of both."""
    if walk.client.offers("reset"):
        walk.call("reset")
    info = walk.call("objects.create", **{"class": "MSMQQueueInfo"}).values["object"]
    for steps in (_older, _described, _queried, _advised):
        with suppress(GiveUp):
            steps(walk, info)
    with suppress(GiveUp):
        _used(walk, info)
    _released(walk, info)


def _older(walk: DriverCheck, info: Json) -> None:
    """The methods until protocol 1.1, which offered values of any type."""
    path = ".\\private$\\mqconform-objects"
    if walk.client.offers("objects.put"):
        walk.call("objects.put", object=info, property="PathName", value=path)
        if not walk.client.offers("objects.invoke") and walk.client.offers("objects.get"):
            walk.call("objects.get", object=info, property="PathName")
    if walk.client.offers("objects.call"):
        walk.call("objects.call", object=info, method="Create", arguments=[])
    if walk.client.offers("objects.events"):
        source = walk.call("objects.create", **{"class": "MSMQEvent"}).values["object"]
        walk.call("objects.events", object=source, on=True)


def _described(walk: DriverCheck, info: Json) -> None:
    walk.call("objects.describe", object=info)
    names = [each["name"] for each in walk.call("objects.describe", **{"class": "MSMQQueueInfo"}).values["interfaces"]]
    if "IMSMQQueueInfo" not in names:
        walk.say("objects.describe", "wrong", f"MSMQQueueInfo is to have IMSMQQueueInfo; it has {', '.join(names)}")


def _queried(walk: DriverCheck, info: Json) -> None:
    found = walk.call("objects.query", object=info, iid=INTERFACES["IMSMQQueueInfo2"].uuid).values["object"]
    if found != info:
        walk.say("objects.query", "wrong", f"gives the handle {found!r} to an object that has the handle {info!r}")


def _advised(walk: DriverCheck, info: Json) -> None:
    """A driver may lack the class of events; then there is nothing to advise."""
    if not walk.client.offers("objects.advise"):
        return
    made = walk.client.call("objects.create", **{"class": "MSMQEvent"})
    if not made.ok:
        walk.say("objects.advise", "missing", f"not tried, because MSMQEvent cannot be made: {told(made)}")
        walk.lacking |= {"objects.advise", "objects.unadvise"}
        return
    source, iid = made.values["object"], INTERFACES["_DMSMQEventEvents"].uuid
    cookie = walk.call("objects.advise", object=source, sink="events", iid=iid).values["cookie"]
    walk.call("objects.unadvise", object=source, iid=iid, cookie=cookie)


def _used(walk: DriverCheck, info: Json) -> None:
    path = f"{walk.client.hello.computer}\\private$\\mqconform-objects-typed"
    _invoked(walk, info, "PathName", "put", {"vt": "BSTR", "value": path})
    _invoked(walk, info, "Create", "method", _LEFT_OUT, _LEFT_OUT)
    if walk.client.offers("objects.get"):  # the queue is there now: a getter that refreshes first can do so
        shown = walk.call("objects.get", object=info, members=["PathName", "Label"]).values["values"]
        if not _tells(shown[0], path):
            walk.say("objects.get", "wrong", f"the PathName that was put is not shown: {shown[0]}")
    opened = _invoked(
        walk, info, "Open", "method", {"vt": "I4", "value": _RECEIVE_ACCESS}, {"vt": "I4", "value": _DENY_NONE}
    )
    queue = opened.values.get("value", {"vt": "EMPTY"})
    if queue["vt"] != "DISPATCH":
        walk.say("objects.invoke", "wrong", f"Open answers the queue as a DISPATCH, and this answered {queue}")
        raise GiveUp
    _waits(walk, queue["value"])


def _tells(shown: Json, path: str) -> bool:
    """Tell whether a getter has succeeded and shows a path name, in small letters or capitals."""
    value = shown.get("value") or {}
    return bool(shown["status"] == 0 and value.get("vt") == "BSTR" and str(value["value"]).lower() == path.lower())


def _waits(walk: DriverCheck, queue: Json) -> None:
    """A read without time-out leaves the driver free for other calls; Close ends it."""
    client = walk.client
    read = client.start("objects.invoke", object=queue, member="Receive", kind="method", arguments=[], deadline_ms=None)
    client.wait_blocked_or_done(read, walk.patience_ms)
    _invoked(walk, queue, "Close", "method")
    if not client.wait_done(read, walk.patience_ms):
        walk.say("objects.invoke", "wrong", f"a read is not answered {walk.patience_ms} ms after its queue was closed")
    elif read.result().ok:
        walk.say("objects.invoke", "wrong", "a read of an empty queue answered success when the queue was closed")
    elif not read.blocked:
        walk.say(
            "objects.invoke", "missing", "no pending event for a member that waits, so no test calls two at a time"
        )


def _released(walk: DriverCheck, info: Json) -> None:
    """A handle that was released is refused with a result."""
    walk.call("objects.release", objects=[info])
    can_look = walk.client.offers("objects.get") and walk.client.offers("objects.invoke")
    if can_look and walk.client.call("objects.get", object=info, members=["Label"]).ok:
        walk.say("objects.release", "wrong", "an object that was released can still be read")


def _invoked(walk: DriverCheck, target: Json, member: str, kind: str, *arguments: Json) -> Result:
    return walk.call("objects.invoke", object=target, member=member, kind=kind, arguments=list(arguments))
