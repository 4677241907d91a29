"""Features of the members of MC-MQAC's objects: those of their rows, and of the calls that they stand for.

A member is named `Class.Member`. A read has the features of its row, and those of the call of the queue manager's user
that it becomes: what is in the queue, and where the cursor is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Final

from conformance.activex import service_features
from conformance.activex.events import Untold, events
from conformance.activex.features import UNPREDICTED, Feature, featured, features
from conformance.activex.members import Member
from conformance.activex.plans import Act
from conformance.activex.scenes import Scene
from conformance.activex.world import World
from conformance.histories.features.feature import Constraint, no
from conformance.histories.features.feature import Feature as CallFeature
from conformance.histories.features.table import FEATURES as OF_CALLS
from conformance.model import BadCall, Call, State

TAKEN_OVER: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "messages.receive": {
            "kind": ("plain", "transactional"),
            "choice": ("nothing", "awaited", "only", "equal", "lower", "overtaking"),
            "cursor": ("unused", "available", "moved", "removed", "locked", "behind"),
        },
        "messages.peek": {
            "kind": ("plain", "transactional"),
            "choice": ("nothing", "awaited", "only", "equal", "lower", "overtaking"),
            "cursor": ("unused", "available", "moved", "removed", "purged", "expired", "locked", "behind"),
        },
        "messages.peek_next": {
            "kind": ("plain", "transactional"),
            "choice": ("nothing", "awaited", "only", "equal", "lower", "overtaking"),
            "cursor": ("unused", "available", "moved", "removed", "locked", "behind"),
        },
        "messages.receive_by_lookup_id": {
            "kind": ("plain", "transactional"),
            "named": ("available", "removed", "received"),
            "found": ("near", "beyond", "nothing"),
        },
        "messages.peek_by_lookup_id": {
            "kind": ("plain", "transactional"),
            "named": ("available", "removed", "received"),
            "found": ("near", "beyond", "nothing"),
        },
    }
)
"""The call that a read becomes to its features, with the cases that an object can bring about."""
_met: list[tuple[World, Act, tuple[State, Call] | None] | None] = [None]


def underlying_call(world: World, act: Act) -> tuple[State, Call] | None:
    """Return the call that an act becomes, and the state in which it is made; None if the objects do not tell."""
    known = _met[0]
    if known is not None and known[0] is world and known[1] is act:
        return known[2]
    found: tuple[State, Call] | None = None
    if act.call is not None:
        try:
            told = events(world.known, act.object, act.call, act.gives)
            found = world.before(told).likely, told.main
        except (Untold, BadCall):
            found = None
    _met[0] = (world, act, found)
    return found


def _taken_over(of: Callable[[State, Call], str | None], values: tuple[str, ...], world: World, act: Act) -> str | None:
    found = underlying_call(world, act)
    case = None if found is None else of(*found)
    if found is not None and case is not None:
        case = _finer(world, *found, case)
    return case if case in values else None


def _finer(world: World, state: State, call: Call, case: str) -> str:
    """Return the case of an object where it tells more apart: who waits, and what became of the cursor's message."""
    if case == "nothing":
        return "awaited" if call.timeout_ms else case
    cursor = state.cursors.get(call.cursor or "")
    message = cursor.message if cursor is not None else None
    if case == "removed" and message is not None and call.method == "messages.peek":
        done = {kind for name, kind in world.doers if name == message}
        return case if "read" in done else "purged" if "purge" in done else "expired"
    if case == "available" and cursor is not None:
        queue = state.queues[state.handles[cursor.handle].queue]
        first = next((one.message for one in queue.positions if one.available), message)
        return case if first == message else "moved"
    return case


def _of_call(member: Member) -> tuple[Feature, ...]:
    if member.event is None or member.event.call not in TAKEN_OVER or member.name in UNPREDICTED:
        return ()
    wanted = TAKEN_OVER[member.event.call]
    there: Mapping[str, CallFeature] = {one.name: one for one in OF_CALLS[member.event.call]}
    identified = any(one.name == "LookupId" for slot in member.slots for one in slot.arguments)
    return tuple(
        Feature(name, values, partial(_taken_over, there[name].of, values), there[name].steps)
        for name, values in wanted.items()
        if (name != "cursor" or member.event.cursor) and (name != "named" or identified)
    )


def named(member: Member) -> str:
    """Return the name of a member as its situations have it: `MSMQQueue.Receive`."""
    return f"{member.coclass}.{member.name}"


MEMBERS: Final[Mapping[str, Member]] = MappingProxyType(
    {named(member): member for member in (*featured(), *service_features.featured())}
)
"""The members that have features, by name."""
FEATURES: Final[Mapping[str, tuple[Feature, ...]]] = MappingProxyType(
    {named(member): (*features(member), *_of_call(member)) for member in featured()}
    | {named(member): service_features.features(member) for member in service_features.featured()}
)
"""Member to its features."""


def vector(name: str, world: World | Scene, act: Act) -> tuple[str | None, ...]:
    """Return the case of each feature of a member when an act calls it in a world or a scene."""
    return tuple(one.of(world, act) for one in FEATURES[name])


_READS: Final = tuple(name for name in MEMBERS if name.startswith(("MSMQQueue.Receive", "MSMQQueue.Peek")))
_AT_CURSOR: Final = tuple(name for name in _READS if any(one.name == "cursor" for one in FEATURES[name]))
_WAITING: Final = tuple(name for name in _READS if any(one.name == "choice" for one in FEATURES[name]))
_SEEKING: Final = tuple(name for name in _READS if "ByLookupId" in name)
_SAME: Final = tuple(name for name in _SEEKING if name.startswith(("MSMQQueue.ReceiveBy", "MSMQQueue.PeekBy")))
_OTHERS: Final = tuple(dict.fromkeys(one.name for name in _SAME for one in FEATURES[name] if one.name != "found"))
_ALL: Final = tuple(MEMBERS)
_ENDINGS: Final = tuple(name for name in MEMBERS if any(one.name == "last" for one in FEATURES[name]))
_BESIDE: Final = tuple(name for name in _READS if name.startswith("MSMQQueue.Peek") and "ByLookupId" in name)
_SHARED: Final = ("MSMQQueue.Access", "MSMQQueue.ShareMode")
_PATH, _FORMAT = "MSMQQueueInfo.PathName", "MSMQQueueInfo.FormatName"
_NO_QUEUE: Final = "an object that was never opened has no queue"
_REFUSED: Final = "its own argument refuses the call, so that it becomes no call of the queue manager's user"
_RESET: Final = "a name that is put takes the place of the other one"


def _of_class(coclass: str) -> tuple[str, ...]:
    return tuple(name for name in MEMBERS if name.startswith(f"{coclass}."))


_DESTINATIONS, _MANAGEMENTS, _INFOS = map(_of_class, ("MSMQDestination", "MSMQManagement", "MSMQQueueInfos"))
_NOTIFY: Final = ("MSMQEvent.EnableNotification",)
_OUTGOING: Final = tuple(f"MSMQManagement.{one}" for one in ("EodGetSendInfo", "Resume", "Pause", "EodResend"))
_OUTGOING_ONLY: Final = "EodGetSendInfo Resume Pause EodResend"
_REGISTER: Final = ("MSMQApplication.RegisterCertificate",)
_NAME: Final = "the name that was put last is the name (MC-MQAC 3.12.4.1.7, 3.12.4.1.9, 3.12.4.1.11)"
_INIT: Final = "Init alone makes it stand for a queue (MC-MQAC 3.3.4.1.1)"
_OTHER_SORT: Final = "MC-MQAC 3.4 is about queues here and 3.5 about outgoing ones: neither tells of the other sort"
_INACTIVE: Final = "it stands for an active queue, and a queue here that nobody has open is not active (MC-MQAC 3.3)"
_LEFT: Final = "without a message or a handle an outgoing queue is not active (MS-MQDMPR 3.1.1.2, MC-MQAC 3.3)"
_PASS: Final = "Next goes from the start to the end (MC-MQAC 3.14.4.1.2)"
_OF_SERVICES: Final = (
    no(
        _DESTINATIONS,
        "Open leaves it open, and Close closed (MC-MQAC 3.12.4.1.1, 3.12.4.1.2)",
        object="open",
        last="none Close",
    ),
    no(
        _DESTINATIONS,
        "Open leaves it open, and Close closed (MC-MQAC 3.12.4.1.1, 3.12.4.1.2)",
        object="closed",
        last="Open",
    ),
    no(
        _DESTINATIONS,
        "the name is that of no queue that Open finds (MC-MQAC 3.12.4.1.1)",
        object="open",
        name="none nothing journal subqueue",
    ),
    no(
        _DESTINATIONS,
        "the name is that of no queue that Open finds (MC-MQAC 3.12.4.1.1)",
        last="Open",
        name="none nothing journal subqueue",
    ),
    no(_DESTINATIONS, "put Handle leaves no name that is known (MC-MQAC 3.12.4.2.2)", last="Handle", name="*"),
    no(_DESTINATIONS, _NAME, last="ADsPath", name="none here other journal subqueue nothing"),
    no(_DESTINATIONS, _NAME, last="PathName", name="none journal away nothing directory"),
    no(_DESTINATIONS, _NAME, last="FormatName", name="none directory"),
    no(_DESTINATIONS, _NAME, last="none", name="here other journal subqueue away nothing directory"),
    no(
        ("MSMQDestination.Open",),
        "put Handle leaves the format name: MC-MQAC 3.12.4.2.2 does not say what Open opens then",
        object="closed",
        last="Handle",
    ),
    *(
        no(
            ("MSMQDestination.Open",),
            "MC-MQAC 3.12.4.1.1 does not say whether a part of a queue is opened for sending",
            name="journal subqueue",
            **{its: "*"},
        )
        for its in ("last", "object")
    ),
    no(
        ("MSMQDestination.look",),
        "a closed destination has no handle to tell (MC-MQAC 3.12.4.2.1)",
        member="Handle",
        object="closed",
    ),
    no(
        ("MSMQDestination.look",),
        "a closed destination has no handle to tell (MC-MQAC 3.12.4.2.1)",
        member="Handle",
        last="none Close",
    ),
    no(
        ("MSMQDestination.look",),
        "the name is that of no queue that Open finds (MC-MQAC 3.12.4.1.1)",
        member="Handle",
        name="none nothing journal subqueue",
    ),
    no(_REGISTER, "MC-MQAC 3.2.4.2.1 does not say when a certificate is taken", object="new", flags="left_out always"),
    no(
        _REGISTER,
        "MC-MQAC 3.2.4.2.1 does not say when a certificate is taken",
        object="new",
        external_certificate="left_out",
    ),
    *(no(_MANAGEMENTS, _INIT, object="new", **{name: "*"}) for name in ("content", "handles")),
    no(_MANAGEMENTS, _INIT, object="new", last=f"Init EodGetReceiveInfo {_OUTGOING_ONLY}"),
    no(_MANAGEMENTS, _INIT, object="queue outgoing", last="none"),
    *(no(_MANAGEMENTS, _INIT, last="none", **{name: "*"}) for name in ("content", "handles")),
    no(
        _MANAGEMENTS,
        "an outgoing queue is not deleted, and has no journal (MC-MQAC 3.5)",
        object="outgoing",
        content="journaled deleted",
    ),
    no(
        _MANAGEMENTS,
        "a queue is deleted after it was closed: MC-MQAC 3.10.4.1.27 does not say what an open handle becomes",
        content="deleted",
        handles="open",
    ),
    no(
        _MANAGEMENTS, "only what is asked of a deleted queue fails (MC-MQAC 3.3.4.1)", object="outgoing", last="refused"
    ),
    no(
        _MANAGEMENTS,
        "only what is asked of a deleted queue fails (MC-MQAC 3.3.4.1)",
        last="refused",
        content="empty filled journaled",
    ),
    no(_MANAGEMENTS, "only what is asked of a deleted queue fails (MC-MQAC 3.3.4.1)", last="refused", handles="open"),
    no(_MANAGEMENTS, _OTHER_SORT, object="queue", last=_OUTGOING_ONLY),
    no(_MANAGEMENTS, _OTHER_SORT, content="journaled deleted", last=_OUTGOING_ONLY),
    no(_MANAGEMENTS, _OTHER_SORT, object="outgoing", last="EodGetReceiveInfo"),
    no(_OUTGOING, _LEFT, content="empty", handles="closed"),
    no(("MSMQManagement.EodGetReceiveInfo",), _INACTIVE, content="empty filled journaled", handles="closed"),
    no(("MSMQManagement.look",), _INACTIVE, content="empty journaled", handles="closed"),
    no(_OUTGOING, _OTHER_SORT, object="queue"),
    no(_OUTGOING, _OTHER_SORT, content="journaled deleted"),
    no(_OUTGOING, _OTHER_SORT, last="EodGetReceiveInfo"),
    *(no(_OUTGOING, _OTHER_SORT, last="refused", **{name: "*"}) for name in ("content", "handles")),
    no(("MSMQManagement.EodGetReceiveInfo",), _OTHER_SORT, object="outgoing"),
    no(("MSMQManagement.look",), _OTHER_SORT, member="State NextHops", object="queue"),
    no(("MSMQManagement.look",), _OTHER_SORT, member="State NextHops", content="journaled deleted"),
    no(("MSMQManagement.look",), _OTHER_SORT, member="State NextHops", last="EodGetReceiveInfo"),
    no(("MSMQManagement.look",), _OTHER_SORT, member="JournalMessageCount BytesInJournal", object="outgoing"),
    no(("MSMQManagement.look",), _OTHER_SORT, member="JournalMessageCount BytesInJournal", last=_OUTGOING_ONLY),
    no(_of_class("MSMQCollection"), "a new collection is empty (MC-MQAC 3.15.3)", object="made", last="Item"),
    no(_INFOS, "a query has made what has queues (MC-MQAC 3.14.3)", object="made", found="one several"),
    no(_INFOS, _PASS, object="start", found="none"),
    no(_INFOS, _PASS, object="inside", found="none one"),
    no(_INFOS, "only what no query has made refuses (MC-MQAC 3.14.3)", object="made", last="Reset Next"),
    no(_INFOS, "only what no query has made refuses (MC-MQAC 3.14.3)", object="start inside end", last="refused"),
    no(_INFOS, "only what no query has made refuses (MC-MQAC 3.14.3)", found="one several", last="refused"),
    no(_INFOS, _PASS, object="start", last="Next"),
    no(_INFOS, _PASS, object="inside", last="none Reset"),
    no(_NOTIFY, "NULL has no sinks", sinks="*", event="null"),
    no(_NOTIFY, "it reads at no cursor (MC-MQAC 3.11.4.1.18)", object="send blank", place="moved behind"),
)

CONSTRAINTS: Final[tuple[Constraint, ...]] = (
    no(_ALL, "only a put has a value", form="get putref", value="*"),
    *(no(_READS, _NO_QUEUE, object="blank", **{name: "*"}) for name in ("kind", "choice", "cursor", "named", "found")),
    *(no(_READS, _REFUSED, lookup_id="zero", **{name: "*"}) for name in ("kind", "named", "found")),
    *(
        no(_READS, _REFUSED, transaction="empty wrong_type", **{name: "*"})
        for name in ("kind", "choice", "cursor", "named", "found")
    ),
    no(
        _READS,
        "no section says what a read does with an object that stands for no transaction",
        object="receive",
        transaction="empty",
    ),
    no(_AT_CURSOR, "a queue that is open for sending has no cursor", object="send", cursor="*"),
    no(_AT_CURSOR, "a cursor ends with its handle", object="closed", cursor="*"),
    no(_AT_CURSOR, "only messages of a transactional queue are held by a transaction", kind="plain", cursor="locked"),
    no(_SEEKING, "only messages of a transactional queue are held by a transaction", kind="plain", named="received"),
    no(_READS, "messages of transactions have one priority", kind="transactional", choice="lower overtaking"),
    no(
        tuple(name for name in _AT_CURSOR if "PeekNext" not in name),
        "the cursor stands at a message that can be read",
        choice="nothing awaited",
        cursor="available moved",
    ),
    no(
        _AT_CURSOR,
        "it refuses a message that has left, whatever stands behind it (MS-MQDMPR 3.2.7.2)",
        choice="lower overtaking",
        cursor="purged expired",
    ),
    no(_WAITING, "a read that does not wait is over at once", choice="awaited", receive_timeout="at_once"),
    no(
        _WAITING,
        "a read that waits does so if nothing is there",
        choice="nothing",
        receive_timeout="left_out ends infinite",
    ),
    no(_AT_CURSOR, "messages of transactions do not expire", kind="transactional", cursor="expired"),
    no(_AT_CURSOR, "messages of transactions have one priority", cursor="locked", choice="lower overtaking"),
    *(no(_SAME, "it seeks the message that is named, and no other", found="beyond", **{name: "*"}) for name in _OTHERS),
    no(_SAME, "it seeks the message that is named, and no other", named="available", found="nothing"),
    no(_SAME, "it seeks the message that is named, and no other", named="removed received", found="near"),
    no(("MSMQMessage.Send",), _NO_QUEUE, destination_queue="blank", kind="*"),
    *(
        no(_ENDINGS, "only an open transaction has operations", object="ended empty", **{name: "*"})
        for name in ("last", "operations")
    ),
    no(_ENDINGS, "it has none", last="none", operations="*"),
    no(_BESIDE, "only a transaction of the client holds a message", unit="none", named="received"),
    *_OF_SERVICES,
    no(("MSMQQueue.Reset",), "no section says what Reset does without a cursor", object="send"),
    no(
        ("MSMQQueueInfo.BasePriority",),
        "a queue that is not known to be a public one has no priority",
        object="unnamed named_by_path_name named_by_format_name refreshed",
        before="put",
    ),
    no(_SHARED, _NO_QUEUE, object="blank", share="*"),
    no(
        _SHARED,
        "Open refuses to send where others may not receive (MC-MQAC 3.10.4.1.28)",
        object="send",
        share="deny_receive",
    ),
    no((_PATH, _FORMAT), "an object that has a name is another state", object="unnamed", before="put"),
    no((_PATH,), _RESET, object="named_by_format_name", before="put"),
    no((_FORMAT,), _RESET, object="named_by_path_name created", before="put"),
    no((_PATH,), "the object is named by it", object="named_by_path_name created", before="initial"),
    no((_FORMAT,), "the object is named by it", object="named_by_format_name", before="initial"),
)


@cache
def _of(method: str) -> tuple[Constraint, ...]:
    return tuple(one for one in CONSTRAINTS if method in one.methods)


def excluded(method: str, values: Iterable[tuple[str, str]]) -> str | None:
    """Return why a situation of a member does not count; None for one that counts."""
    given = dict(values)
    return next((one.reason for one in _of(method) if one.excludes(given)), None)
