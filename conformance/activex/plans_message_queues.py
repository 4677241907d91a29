"""Plans about the queue properties of MSMQMessage, without sending it (MC-MQAC 3.17.4.1.15, .23, .71 to .80)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from conformance.activex.message_queues import DESTINATION, MEMBERS
from conformance.activex.plans import Act, Plan, create, on
from conformance.activex.plans_queue_info import DIRECT, PATH, SEND, SHARED, format_name, get, made, new, path, put
from conformance.activex.values import Variant, long, text

MESSAGE: Final = create("MSMQMessage", "m")
FORMS: Final = {
    name: [other for other, row in MEMBERS.items() if row.kept_as == MEMBERS[name].kept_as]
    for name, row in MEMBERS.items()
    if row.slot("putref") is not None and name != "ResponseDestination"
}
"""Property of a queue to all forms that show it."""


def refer(member: str, name: str | None) -> Act:
    return on("m", member, Variant("DISPATCH", name), kind="putref")


def handed(member: str, name: str) -> Act:
    return on("m", member, kind="get", gives=name)


def _property(member: str) -> Iterator[Plan]:
    queue = (*made(), put("a", "Label", text("a")), on("a", "Refresh"))
    looks = tuple(act for form in FORMS[member] for act in (handed(form, "r"), *get("r", "FormatName", "Label")))
    yield (*queue, MESSAGE, refer(member, "a"), *looks)
    yield (
        *queue,
        new("b"),
        format_name("b"),
        MESSAGE,
        refer(member, "b"),
        handed(member, "r"),
        *get("r", "FormatName"),
    )
    changed = (handed(member, "r"), on("a", "Refresh"), put("a", "Label", text("b")), on("a", "Update"))
    yield (*queue, MESSAGE, refer(member, "a"), *changed, *get("r", "Label"), handed(member, "s"), *get("s", "Label"))
    other = (
        new("b"),
        format_name("b", f"{DIRECT}-none"),
        refer(member, "b"),
        handed(member, "r"),
        *get("r", "FormatName"),
    )
    yield (*queue, MESSAGE, refer(member, "a"), *other)
    renamed = (refer(member, "a"), path("a"), handed(member, "r"), *get("r", "FormatName"))
    yield (*queue, MESSAGE, *renamed)
    yield (*queue, MESSAGE, refer(member, "a"), refer(member, None))


def message_queues() -> Mapping[str, tuple[Plan, ...]]:
    """Return the plans by the property that they put."""
    plans = {member: tuple(_property(member)) for member in FORMS}
    both = (refer("ResponseQueueInfo", "a"), refer("AdminQueueInfo", "b"))
    looks = tuple(
        act
        for form in (form for forms in (FORMS["ResponseQueueInfo"], FORMS["AdminQueueInfo"]) for form in forms)
        for act in (handed(form, form), *get(form, "FormatName"))
    )
    named = (new(), format_name("a"), new("b"), format_name("b", f"{DIRECT}-admin"))
    plans["both"] = ((*named, MESSAGE, *both, *looks),)
    for member in MEMBERS:
        looks = get("r", "FormatName") if member.endswith(("Info", "_v1", "_v2")) else ()
        plans[f"new-{member}"] = ((MESSAGE, handed(member, "r"), *looks),)
    return plans


def destinations() -> Mapping[str, tuple[Plan, ...]]:
    """Return the plans of ResponseDestination, and of messages sent to one, for a driver that has destinations."""
    destination = (create(DESTINATION, "a"), on("a", "FormatName", text(f"{DIRECT},{DIRECT}2"), kind="put"))
    member = "ResponseDestination"
    refers = (*destination, MESSAGE, refer(member, "a"), handed(member, "r"), *get("r", "FormatName"))
    looks = (handed("DestinationQueueInfo", "x"), *get("x", "PathName"))
    two = (*made("i"), on("i", "Open", SEND, SHARED, gives="s"), *made("j", f"{PATH}-b"))
    other = (create(DESTINATION, "d"), on("d", "FormatName", text(f"{DIRECT}-b"), kind="put"), on("d", "Open"))
    sent = {name: on("m", "Send", Variant("DISPATCH", name), long(0)) for name in ("s", "d")}
    each: list[Plan] = [
        tuple(act for name in names for act in (sent[name], *looks)) for names in ("sd", "ds", "sds", "dd")
    ]
    return {member: (refers,), "sent": tuple((*two, *other, MESSAGE, *acts) for acts in each)}
