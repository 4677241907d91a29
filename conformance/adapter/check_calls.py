"""The calls of `adapter check`, in groups: a short scenario on a new queue, the facets, and drivers that repair."""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from conformance.adapter import protocol
from conformance.adapter.client import Client, PendingCall, Result
from conformance.adapter.errors import DriverFault, NotAccepted
from conformance.spec.constants.codes import status_text
from conformance.spec.constants.hresults import MQ_ERROR_IO_TIMEOUT
from conformance.spec.constants.interfaces import INTERFACES
from conformance.spec.constants.properties import PROPERTIES
from conformance.verdict import Json

_LEFT_OUT: Json = {"vt": "ERROR", "value": 0x80020004}  # DISP_E_PARAMNOTFOUND
_DACL = 4  # DACL_SECURITY_INFORMATION, MS-MQMQ 2.2.3
_EVERYBODY_ALL = "AQAEgAAAAAAAAAAAAAAAABQAAAACABwAAQAAAAAAFAA/AA8AAQEAAAAAAAEAAAAA"
"""A descriptor whose DACL allows S-1-1-0 everything (0x000F003F)."""
_SITE_NAME = 301  # PROPID_S_PATHNAME, MS-MQMQ 2.3.3.1
_RECEIVE_ACCESS, _DENY_NONE = 1, 0  # MC-MQAC 2.2.2.4, 2.2.2.5


@dataclass(frozen=True, slots=True)
class CheckStep:
    """One step of the check.

    state: `ok`, `missing` (not offered or not tried, which is allowed), `doubt` (what a driver that repairs would do
    too) or `wrong`.
    """

    what: str
    state: str
    text: str


class GiveUp(Exception):
    """The rest of a group of calls needs an answer that is missing; the reason is already among the steps."""


class DriverCheck:
    """The steps so far, and the client of the driver being checked."""

    def __init__(self, client: Client, patience_ms: int) -> None:
        """patience_ms: longest time for something that the driver should send by itself."""
        self.client = client
        self.patience_ms = patience_ms
        self.steps: list[CheckStep] = []
        self.tried: set[str] = set()
        self.lacking: set[str] = set()

    def say(self, what: str, state: str, text: str) -> None:
        """Add a step."""
        self.steps.append(CheckStep(what, state, text))

    def call(self, method: str, /, **params: Any) -> Result:
        """Make a valid call. The first try of each method is a step, and so is every failure. Raises GiveUp."""
        if not self.client.offers(method):
            raise GiveUp
        return self._answer(method, lambda: self.client.call(method, **params))

    def answer(self, call: PendingCall) -> Result:
        """Wait for a call that was started. Raises GiveUp as `call` does."""
        return self._answer(call.method, call.result)

    def _answer(self, method: str, ask: Callable[[], Result]) -> Result:
        first = method not in self.tried
        self.tried.add(method)
        try:
            result = ask()
        except NotAccepted as lacking:
            if first:
                self.tried.discard(method)
                self.lacking.add(method)
            self.say(method, "missing", f"not tried, because its API lacks something: {lacking.what}")
            raise GiveUp from None
        except DriverFault as fault:
            self.say(method, "wrong", fault.sentence)
            raise GiveUp from None
        if not result.ok:
            self.say(method, "wrong", f"valid parameters must succeed; it answered {result_text(result)}")
            raise GiveUp
        if first:
            self.say(method, "ok", "answered as the schema says")
        return result


def result_text(result: Result) -> str:
    """Return a result in a few words."""
    if result.failure is not None:
        return f"{result.failure.kind}: {result.failure.text}"
    return f"status {status_text(result.status or 0)}"


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
        walk.say("objects.advise", "missing", f"not tried, because MSMQEvent cannot be made: {result_text(made)}")
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


_SHORT_MS = 50
_NO_PING = base64.b64encode(bytes(24)).decode("ascii")
"""A datagram without the signature of a ping, which nothing answers (MS-MQQB 2.2.7)."""
_ACCEPTOR_MS = 1_000


def sessions(walk: DriverCheck) -> None:
    """Connect, write nothing that means anything, read, close; then wait for a connection that does not come."""
    with suppress(GiveUp):
        walk.call("sessions.about")
    with suppress(GiveUp):
        _as_initiator(walk)
    with suppress(GiveUp):
        _nobody_connects(walk)
    with suppress(GiveUp):
        walk.call("sessions.ping", bytes=_NO_PING, wait_ms=_SHORT_MS)


def _as_initiator(walk: DriverCheck) -> None:
    first = walk.call("sessions.open", role="initiator").values.get("session")
    second = walk.call("sessions.open", role="initiator").values.get("session")
    if first is None or second is None or first == second:
        walk.say("sessions.open", "wrong", f"a session has a name of its own; two that are open have {first}, {second}")
        raise GiveUp
    walk.call("sessions.send", session=first, bytes="")
    values = walk.call("sessions.received", session=first, wait_ms=_SHORT_MS).values
    if values["packets"]:
        walk.say("sessions.received", "wrong", "gives packets of a session on which nothing was sent")
    walk.call("sessions.close", session=first, how="close")
    walk.call("sessions.close", session=second, how="reset")


def _nobody_connects(walk: DriverCheck) -> None:
    if not walk.client.offers("sessions.open"):
        raise GiveUp
    result = walk.client.call("sessions.open", role="acceptor", deadline_ms=_ACCEPTOR_MS)
    if result.ok:
        walk.call("sessions.close", session=result.values.get("session"), how="close")
    elif result.status not in (None, MQ_ERROR_IO_TIMEOUT):
        told = status_text(result.status)
        walk.say("sessions.open", "wrong", f"answered {told} where nobody connects, not MQ_ERROR_IO_TIMEOUT")


Handle = str | int

_CANCELLED = 0xC00E0008  # MQ_ERROR_OPERATION_CANCELLED, MS-MQMQ 2.4
_LONG_MS = 30_000
_LATE_MS = 200  # least time for a read that a call ends, in place of a smaller slack_ms
_TRIES = 10
_TIMER_S = 0.002  # what a report is later than by itself, on a busy machine
_GUID = "0123ABCD-4567-89ab-CDEF-0123456789ab"
_MESSAGE: dict[str, Json] = {"label": "check", "body": "aGVsbG8="}


def fresh_queue(walk: DriverCheck, name: str, *, transactional: bool = False) -> str:
    """Create a queue of this name after a reset. Returns its format name."""
    if walk.client.offers("reset"):
        walk.call("reset")
    params: dict[str, Json] = {"path_name": f"{walk.client.hello.computer}\\private$\\mqconform-{name}"}
    if transactional:
        params["properties"] = {"PROPID_Q_TRANSACTION": 1}
    text: str = walk.call("queues.create", **params).values["format_name"]
    return text


def _message(walk: DriverCheck) -> dict[str, Json]:
    """Return a message with only the members that the driver accepts."""
    return {name: value for name, value in _MESSAGE.items() if walk.client.hello.takes("message", name)}


def _property(walk: DriverCheck) -> str:
    """Return a queue property that the driver can read."""
    known = walk.client.hello.accepts.get("properties", ())
    return min(known) if known and "PROPID_Q_LABEL" not in known else "PROPID_Q_LABEL"


def opened(walk: DriverCheck, format_name: str, access: str = "receive") -> Handle:
    handle: Handle = walk.call("queues.open", format_name=format_name, access=access).values["queue"]
    return handle


def _filled(walk: DriverCheck, name: str, count: int = 1) -> tuple[str, Handle]:
    """Create a queue with `count` messages. Returns its format name and a handle to read it."""
    format_name = fresh_queue(walk, name)
    sender = opened(walk, format_name, "send")
    for _ in range(count):
        walk.call("messages.send", queue=sender, message=_message(walk))
    settle(walk)
    return format_name, opened(walk, format_name)


def settle(walk: DriverCheck) -> None:
    """Wait the declared time after which a message that was sent, or peeked, is available."""
    time.sleep(walk.client.hello.settle_ms / 1000)


def patient_ms(walk: DriverCheck) -> int:
    """Return the time-out of a read. The message exists, but a real queue, not the driver, may be slow to show it."""
    return walk.client.hello.settle_ms


def clock(walk: DriverCheck) -> None:
    walk.call("clock.now")
    before = walk.call("clock.now").values["time_ms"]
    after = walk.call("clock.advance", by_ms=1500).values["time_ms"]
    if walk.client.hello.clock == "virtual" and after - before != 1500:
        walk.say("clock.advance", "wrong", f"1500 ms were to pass on the virtual clock, and {after - before} did")


def names(walk: DriverCheck) -> None:
    walk.call("names.parse", text="DIRECT=OS:HOST\\private$\\orders", form="format_name")
    # A reading decides whether this name is valid. A driver that accepts it must report its suffix, as for every name.
    found = walk.client.call("names.parse", text=f"CONNECTOR={_GUID};XACTONLY", form="format_name")
    if found.ok and "parts" in found.values and "suffix" not in found.values["parts"]:
        walk.say("names.parse", "wrong", "the parts of CONNECTOR=...;XACTONLY lack their suffix, xactonly")


def packets(walk: DriverCheck) -> None:
    message = {"destination": "DIRECT=OS:HOST\\private$\\q", **_MESSAGE}
    packet = walk.call("packets.encode", message=message).values["packet"]
    walk.call("packets.decode", packet=packet)


def deliver(walk: DriverCheck) -> None:
    destination = fresh_queue(walk, "deliver")
    packet = walk.call("packets.encode", message={"destination": destination, **_MESSAGE}).values["packet"]
    walk.call("packets.deliver", packet=packet)


def structures(walk: DriverCheck) -> None:
    """Try a packed structure, one in NDR with a text behind a pointer, and a counted list: all encodings there are."""
    example = protocol.method("structures.encode").examples[0]["params"]
    variant = {"vt": 0x101F, "value": ["one", "two"]}
    values: tuple[tuple[str, Json], ...] = (
        (example["structure"], example["value"]),
        ("QUEUE_FORMAT", {"m_qft": 3, "m_suffix_and_flags": 0, "m_p_direct_id": "OS:HOST\\private$\\q"}),
        ("PROPVARIANT", variant),
        ("MQDSPUBLICKEYS", {"a_public_keys": []}),
    )
    for name, value in values:
        data = walk.call("structures.encode", structure=name, value=value).values["data"]
        again = walk.call("structures.decode", structure=name, data=data).values["value"]
        kept = [each for each in value if again.get(each) == value[each]] if isinstance(again, dict) else []
        if len(kept) < len(value):
            walk.say("structures.decode", "wrong", f"what it reads of its own {name} is not what it was given")


def queues(walk: DriverCheck) -> None:
    if walk.client.offers("messages.send"):
        format_name, handle = _filled(walk, "queues")
    else:
        format_name = fresh_queue(walk, "queues")
        handle = opened(walk, format_name)
    for method, params in (
        ("queues.get", {"format_name": format_name, "properties": [_property(walk)]}),
        ("queues.set", {"format_name": format_name, "properties": {"PROPID_Q_LABEL": "checked"}}),
        ("queues.counts", {"format_name": format_name}),
        ("queues.purge", {"queue": handle}),
        ("queues.close", {"queue": handle}),
        ("queues.delete", {"format_name": format_name}),
        ("limits", {"message_quota_kb": protocol.INFINITE, "journal_quota_kb": protocol.INFINITE}),
        ("directory", {"objects": []}),
        ("harden", {"hardened": False}),
    ):
        with suppress(GiveUp):  # Each call is independent of the one before.
            _if_offered(walk, method, params)


def outgoing(walk: DriverCheck) -> None:
    """Pause an outgoing queue, as no other can be paused (MS-MQDMPR 3.1.4.14). Its computer need not exist."""
    format_name = "DIRECT=OS:mqconform-elsewhere\\private$\\q"
    methods = ("outgoing.pause", "outgoing.resume", "outgoing.take")
    if not any(walk.client.offers(method) for method in methods):
        return
    handle = opened(walk, format_name, "send")
    if walk.client.offers("messages.send"):
        walk.call("messages.send", queue=handle, message=_message(walk))
    for method in methods:
        _if_offered(walk, method, {"format_name": format_name})


def management(walk: DriverCheck) -> None:
    """Manage the machine and an outgoing queue; where the driver plays the network, send a message through it."""
    format_name = "DIRECT=OS:mqconform-managed\\private$\\q"
    if not any(walk.client.offers(f"management.{name}") for name in ("get", "act", "transfer")):
        return
    queue: dict[str, Json] = {"type": "queue", "format_name": format_name}
    _managed(walk, {"type": "machine"}, ["PROPID_MGMT_MSMQ_CONNECTED", "PROPID_MGMT_MSMQ_ACTIVEQUEUES"])
    if not walk.client.offers("queues.open"):
        raise GiveUp
    handle = opened(walk, format_name, "send")
    if walk.client.offers("messages.send"):
        walk.call("messages.send", queue=handle, message=_message(walk))
    _managed(walk, queue, ["PROPID_MGMT_QUEUE_STATE", "PROPID_MGMT_QUEUE_MESSAGE_COUNT"])
    for action in ("PAUSE", "RESUME"):
        _if_offered(walk, "management.act", {"target": queue, "action": action})
    for step in ("in_process", "established"):
        played: dict[str, Json] = {"format_name": format_name, "step": step, "addresses": ["192.0.2.7"]}
        _if_offered(walk, "management.connection", played)
    _if_offered(walk, "management.transfer", {"format_name": format_name, "count": 1})
    acknowledged: dict[str, Json] = {"format_name": format_name, "kind": "session", "count": 1}
    _if_offered(walk, "management.acknowledge", acknowledged)


def _managed(walk: DriverCheck, target: dict[str, Json], names: list[str]) -> None:
    if not walk.client.offers("management.get"):
        return
    numbers = [PROPERTIES[name].value for name in names]
    values = walk.call("management.get", target=target, properties=numbers).values["values"]
    if len(values) != len(numbers):
        walk.say("management.get", "wrong", f"{len(numbers)} properties were asked, and it answered {len(values)}")


def security(walk: DriverCheck) -> None:
    """Read certificates and a queue's DACL, set that again, and open the queue as each user that `hello` declares."""
    _if_offered(walk, "security.certificates", {})
    if not (walk.client.offers("security.get") or walk.client.offers("security.set")):
        return
    format_name = fresh_queue(walk, "security")
    target: dict[str, Json] = {"type": "queue", "format_name": format_name}
    dacl: Json = _EVERYBODY_ALL
    if walk.client.offers("security.get"):
        dacl = walk.call("security.get", target=target, information=_DACL).values.get("descriptor", dacl)
        walk.call("security.get", target={"type": "machine"}, information=_DACL)
    for descriptor in (dacl, _EVERYBODY_ALL):
        _if_offered(walk, "security.set", {"target": target, "information": _DACL, "descriptor": descriptor})
    declared = walk.client.hello.security
    if declared is None:
        walk.say("hello.security", "missing", "declares no users, so rights cannot be told")
    elif walk.client.offers("security.set") and walk.client.offers("queues.open"):
        for caller in declared["callers"]:
            params = {"format_name": format_name, "access": "send", "as": caller["sid"]}
            if not walk.client.call("queues.open", **params).ok:
                walk.say("as", "wrong", f"{caller['sid']} cannot open a queue that everybody may do everything with")
                return
        walk.say("as", "ok", f"{len(declared['callers'])} users can call")


def messages(walk: DriverCheck) -> None:
    _, handle = _filled(walk, "messages")
    _if_offered(walk, "messages.peek", {"queue": handle, "timeout_ms": patient_ms(walk)})
    settle(walk)
    walk.call("messages.receive", queue=handle, timeout_ms=patient_ms(walk))


def lookup(walk: DriverCheck) -> None:
    _, handle = _filled(walk, "lookup")
    first = walk.call("messages.peek_by_lookup_id", queue=handle, lookup_identifier="0", action="first")
    number = first.values["message"].get("lookup_identifier")
    if number is None:
        walk.say("messages.peek_by_lookup_id", "wrong", "shows a message without its lookup_identifier")
        raise GiveUp
    settle(walk)
    walk.call("messages.receive_by_lookup_id", queue=handle, lookup_identifier=number, action="current")


def move(walk: DriverCheck) -> None:
    format_name, handle = _filled(walk, "move")
    first = walk.call("messages.peek_by_lookup_id", queue=handle, lookup_identifier="0", action="first")
    number = first.values["message"].get("lookup_identifier", "0")
    if walk.client.offers("messages.move"):
        walk.call(
            "messages.move",
            queue=handle,
            lookup_identifier=number,
            destination=opened(walk, f"{format_name};check", "move"),
        )


def two_phases(walk: DriverCheck) -> None:
    _, handle = _filled(walk, "phases")
    read = walk.call("messages.receive_begin", queue=handle, timeout_ms=patient_ms(walk)).values["read"]
    walk.call("messages.receive_end", read=read, acknowledge=True)


def cursors(walk: DriverCheck) -> None:
    _, handle = _filled(walk, "cursors", 2)
    cursor = walk.call("cursors.open", queue=handle).values["cursor"]
    walk.call("messages.peek", queue=handle, cursor=cursor, timeout_ms=patient_ms(walk))
    settle(walk)
    _if_offered(walk, "messages.peek_next", {"queue": handle, "cursor": cursor, "timeout_ms": patient_ms(walk)})
    walk.call("cursors.close", cursor=cursor)


def transactions(walk: DriverCheck) -> None:
    queue = opened(walk, fresh_queue(walk, "transactions", transactional=True), "send")
    for end in ("transactions.abort", "transactions.commit"):
        transaction = walk.call("transactions.begin").values["transaction"]
        walk.call("messages.send", queue=queue, message=_message(walk), transaction=transaction)
        if end == "transactions.commit":
            _if_offered(walk, "transactions.prepare", {"transaction": transaction})
        walk.call(end, transaction=transaction)


def coordinator(walk: DriverCheck) -> None:
    """Play a coordinator that commits in two phases and in one, and aborts; ask what is in doubt."""
    if not walk.client.offers("coordinator.enlist"):
        return
    queue = opened(walk, fresh_queue(walk, "coordinator", transactional=True), "send")
    for single, end in ((False, "commit"), (True, "commit"), (False, "abort")):
        identifier = str(uuid.uuid4())
        transaction = walk.call("coordinator.enlist", transaction=identifier).values["transaction"]
        walk.call("messages.send", queue=queue, message=_message(walk), transaction=transaction)
        _if_offered(walk, "coordinator.prepare", {"identifier": identifier, "single_phase": single})
        _if_offered(walk, f"coordinator.{end}", {"identifier": identifier})
    _if_offered(walk, "coordinator.in_doubt", {})


def contexts(walk: DriverCheck) -> None:
    """Put objects into a transaction and out of it, and have the coordinator refuse and allow each request."""
    for transaction in (str(uuid.uuid4()), None):
        _if_offered(walk, "coordinator.context", {"transaction": transaction})
    for what in ("connect", "begin", "commit", "abort", "info", "import", "enlist"):
        for refused in (True, False):
            _if_offered(walk, "coordinator.refuse", {"what": what, "refused": refused})
    _if_offered(walk, "coordinator.requests", {})


def in_doubt(walk: DriverCheck) -> None:
    """A prepared transaction must be in doubt after a restart, until its coordinator answers."""
    client = walk.client
    if not client.keeps_state or not all(client.offers(f"coordinator.{name}") for name in ("prepare", "in_doubt")):
        return
    identifier = str(uuid.uuid4())
    queue = opened(walk, fresh_queue(walk, "doubt", transactional=True), "send")
    transaction = walk.call("coordinator.enlist", transaction=identifier).values["transaction"]
    walk.call("messages.send", queue=queue, message=_message(walk), transaction=transaction)
    walk.call("coordinator.prepare", identifier=identifier)
    client.restart(kill=True)
    known = [name.lower() for name in walk.call("coordinator.in_doubt").values["transactions"]]
    if identifier not in known:
        walk.say("coordinator.in_doubt", "wrong", "a transaction that was prepared is not in doubt after a kill")
    _if_offered(walk, "coordinator.outcome", {"identifier": identifier, "outcome": "aborted"})


def directory(walk: DriverCheck) -> None:
    """Integrate the manager with a directory, raise each of its events there, and look whether it was asked."""
    if not walk.client.offers("directory.use"):
        return
    north: dict[str, Json] = {"name": "north"}
    address = walk.client.directory("open")["address"]
    walk.call("directory.use", address=address, provisioning=True)
    _if_offered(walk, "directory.own", {})
    _if_offered(walk, "directory.read", {"class": "site"})
    made = _if_offered(walk, "directory.create", {"class": "site", "object": north})
    identifier = made.get("identifier") or walk.client.directory("put", kind="site", object=north)["identifier"]
    one = {"class": "site", "identifier": identifier}
    _if_offered(walk, "directory.write", {**one, "object": {"name": "south"}})
    for value in _if_offered(walk, "directory.get", {**one, "properties": [_SITE_NAME]}).get("values", ()):
        _if_offered(walk, "directory.set", {**one, "properties": [{"property": _SITE_NAME, "value": value}]})
    query = _if_offered(walk, "directory.begin", {"class": "site"}).get("query")
    for method in ("directory.next", "directory.end"):
        if query is not None:
            _if_offered(walk, method, {"query": query})
    _if_offered(walk, "directory.delete", one)
    if not walk.client.directory("asked")["requests"]:
        walk.say("directory", "wrong", f"the manager never asked the directory at {address}")
    walk.call("directory.use", address=None)


def waiting(walk: DriverCheck) -> None:
    """A waiting read must leave the driver free for other calls, and end when its time-out passes."""
    if not walk.client.offers("messages.receive"):
        raise GiveUp
    client = walk.client
    queue = opened(walk, fresh_queue(walk, "waiting"))
    virtual = client.hello.clock == "virtual"
    read = client.start("messages.receive", queue=queue, timeout_ms=_SHORT_MS)
    client.wait_blocked_or_done(read, walk.patience_ms)
    if read.blocked:
        walk.say("pending", "ok", "said that a read waits")
    else:
        walk.say("pending", "missing", "no pending event for a read that waits, so tests allow every order of readers")
    if not read.done and virtual:
        walk.call("clock.advance", by_ms=_SHORT_MS)
    if not client.wait_done(read, walk.patience_ms):
        walk.say("waiting read", "wrong", f"is still not answered when its {_SHORT_MS} ms are over")
        return
    result = read.result()
    if result.ok:
        walk.say("waiting read", "wrong", "answered success, and nothing was ever sent")
    else:
        # Which code a time-out has is for the suites: here the driver is judged, not the queue manager.
        walk.say("waiting read", "ok", f"ended when its time-out passed, with {result_text(result)}")


def cancel(walk: DriverCheck) -> None:
    """A read without time-out: the driver answers other calls meanwhile, and a cancel ends the read."""
    if not (walk.client.offers("messages.receive") and walk.client.offers("messages.cancel")):
        raise GiveUp
    client = walk.client
    format_name = fresh_queue(walk, "cancel")
    queue = opened(walk, format_name)
    read = client.start("messages.receive", queue=queue, timeout_ms=protocol.INFINITE)
    client.wait_blocked_or_done(read, walk.patience_ms)
    opened(walk, format_name, "send")
    walk.say("calls beside a waiting read", "ok", "answered while it waited")
    walk.call("messages.cancel", request=read.id)
    if not client.wait_done(read, walk.patience_ms):
        walk.say("messages.cancel", "wrong", f"the read it cancelled was not answered within {walk.patience_ms} ms")
        return
    result = read.result()
    if result.status not in (None, _CANCELLED):
        what = f"answered {status_text(result.status)}, not {status_text(_CANCELLED)}"
        walk.say("messages.cancel", "wrong", f"the read it cancelled {what}")


def line(walk: DriverCheck) -> None:
    """Two reads that have said `pending`, and a message: the first gets it, soon behind the answer of the send."""
    client = walk.client
    if not (client.offers("messages.receive") and client.offers("messages.send")):
        raise GiveUp
    format_name = fresh_queue(walk, "line")
    receiver, sender = opened(walk, format_name), opened(walk, format_name, "send")
    second, said_s, called_s, behind_s = 0, list[float](), list[float](), list[float]()
    for _ in range(_TRIES):
        reads = []
        for _ in range(2):
            began = time.monotonic()
            reads.append(client.start("messages.receive", queue=receiver, timeout_ms=_LONG_MS))
            client.wait_blocked_or_done(reads[-1], walk.patience_ms)
            if not reads[-1].blocked:
                raise GiveUp  # `waiting` has said so
            said_s.append(time.monotonic() - began)
        for number in range(2):
            began = time.monotonic()
            walk.call("messages.send", queue=sender, message=_message(walk))
            called_s.append(time.monotonic() - began)
            until = time.monotonic() + (client.hello.settle_ms + walk.patience_ms) / 1000
            while sum(read.done for read in reads) <= number and time.monotonic() < until:
                client.poll(1)
            behind_s.append(time.monotonic() - began - called_s[-1])
            second += number == 0 and reads[1].done and not reads[0].done
        if not all(read.done for read in reads):
            walk.say("readers in line", "wrong", "two reads waited, two messages came, and one read was not answered")
            return
    if second:
        what = f"in {second} of {_TRIES} tries the second of two reads that had said pending got the message"
        walk.say("readers in line", "doubt", f"{what}: say pending only once the API has put the read in line")
    else:
        walk.say("readers in line", "ok", f"the first that said pending got the message, {_TRIES} times")
    if min(said_s) > 2 * max(min(called_s), _TIMER_S):
        what = f"pending came {min(said_s) * 1000:.0f} ms after the request at the earliest, other answers are faster"
        walk.say("pending", "doubt", f"{what}: does it come from a timer? Then leave it out: every order is allowed")
    late_ms, declared_ms = max(behind_s) * 1000, client.hello.settle_ms + max(client.hello.slack_ms, _LATE_MS)
    if late_ms > declared_ms:
        what = f"a read was answered {late_ms:.0f} ms behind the send that ended it, more than settle_ms and slack_ms"
        walk.say("reads that a call ends", "doubt", f"{what}: declare more")
    else:
        walk.say("reads that a call ends", "ok", f"answered at most {late_ms:.0f} ms behind the answer of that call")


def reset(walk: DriverCheck) -> None:
    """After a reset the queue no longer exists: opening it fails, and it can be created again."""
    if not walk.client.offers("reset"):
        raise GiveUp
    format_name = fresh_queue(walk, "reset")
    walk.call("reset")
    if walk.client.offers("queues.open"):
        result = walk.client.call("queues.open", format_name=format_name, access="send")
        if result.ok:
            _still_there(walk, "reset", "a queue made before it can still be opened")
    fresh_queue(walk, "reset")


def attach(walk: DriverCheck) -> None:
    """A queue of the outer namespace is not visible in a new namespace."""
    format_name = fresh_queue(walk, "attach") if walk.client.offers("queues.create") else None
    walk.call("attach", namespace="mqconform-check")
    if format_name is not None and walk.client.offers("queues.open"):
        result = walk.client.call("queues.open", format_name=format_name, access="send")
        if result.ok:
            _still_there(walk, "attach", "a queue made before attach can be opened in the new namespace")


def never_created(walk: DriverCheck) -> str:
    """Return the format name of a queue that no group creates."""
    return f"DIRECT=OS:{walk.client.hello.computer}\\private$\\mqconform-never-created"


def _still_there(walk: DriverCheck, what: str, found: str) -> None:
    """Say that a queue should be gone; but where every name can be opened, that is not known."""
    if walk.client.call("queues.open", format_name=never_created(walk), access="send").ok:
        walk.say(what, "missing", "whether a queue is gone cannot be told, because one that never was can be opened")
    else:
        walk.say(what, "wrong", found)


def _if_offered(walk: DriverCheck, method: str, params: Mapping[str, Json]) -> Mapping[str, Json]:
    return walk.call(method, **params).values if walk.client.offers(method) else {}


GROUPS: tuple[Callable[[DriverCheck], None], ...] = (
    clock,
    names,
    packets,
    structures,
    queues,
    outgoing,
    management,
    security,
    messages,
    cursors,
    lookup,
    move,
    two_phases,
    transactions,
    coordinator,
    contexts,
    directory,
    waiting,
    cancel,
    line,
    deliver,
    objects,
    sessions,
    reset,
)

# These run after the restarts, which begin again in the outer namespace.
LAST_GROUPS: tuple[Callable[[DriverCheck], None], ...] = (in_doubt, attach)

_SENT: tuple[tuple[str, Json, Json], ...] = (
    ("priority", 0, 3),
    ("priority", 7, 3),
    ("label", "check", ""),
    ("delivery", "recoverable", "express"),
    ("application_tag", 5, 0),
    ("correlation_identifier", "AQIDBAUGBwgJCgsMDQ4PEBESExQ=", "AAAAAAAAAAAAAAAAAAAAAAAAAAA="),
    ("extension", "AQI=", ""),
    ("time_to_be_received", 600, 0xFFFFFFFF),
    ("time_to_reach_queue", 600, 0xFFFFFFFF),
)
"""Members with a value to send and their default (MS-MQDMPR 3.1.1.12)."""


def opening(walk: DriverCheck) -> None:
    """Open what was never created, and look whether the driver answers for its API."""
    fresh_queue(walk, "opening")
    result = walk.client.call("queues.open", format_name=never_created(walk), access="receive")
    what = "opening what is not there"
    if result.ok:
        walk.say(what, "doubt", "succeeds: does the driver make the queue, or take every name for one that exists?")
    elif _own_words(walk, result):
        walk.say(
            what,
            "doubt",
            f"{result_text(result)}, without an HRESULT that other failures have: does the driver ask first?",
        )
    else:
        walk.say(what, "ok", f"refused with {result_text(result)}")


def defaults(walk: DriverCheck) -> None:
    """Send members with other values than their defaults, and look whether the defaults are shown."""
    format_name = fresh_queue(walk, "defaults")
    sender, reader = opened(walk, format_name, "send"), opened(walk, format_name)
    filled = []
    for name, value, default in _SENT:
        if not walk.client.hello.takes("message", name):
            continue
        try:
            sent = walk.client.call("messages.send", queue=sender, message={"body": "YQ==", name: value})
        except NotAccepted:
            continue
        shown = _received(walk, reader) if sent.ok else None
        if shown is not None and name in shown and shown[name] == default:
            filled.append(f"{name} {value!r} as {default!r}")
    if filled:
        walk.say("defaults", "doubt", f"shown as the default: {', '.join(filled)}; does the driver fill them in?")
    else:
        walk.say("defaults", "ok", "no value that was sent is shown as a default")


def cursor_after_removal(walk: DriverCheck) -> None:
    """Receive at a cursor: it stays where the message was (MS-MQDMPR 3.2.7.4), unless the driver moves it.

    A peek then shows the message behind it, and a peek at the next is refused. A cursor that was moved on shows the
    third.
    """
    what = "removal at a cursor"
    for method in ("messages.peek", "messages.peek_next"):
        if not walk.client.offers(method):
            continue
        format_name = fresh_queue(walk, "removal")
        sender, reader = opened(walk, format_name, "send"), opened(walk, format_name)
        for body in ("YQ==", "Yg==", "Yw=="):
            walk.call("messages.send", queue=sender, message={"body": body})
        settle(walk)
        cursor = walk.call("cursors.open", queue=reader).values["cursor"]
        at: dict[str, Json] = {"queue": reader, "cursor": cursor}
        walk.call("messages.peek", **at, timeout_ms=patient_ms(walk))
        settle(walk)
        walk.call("messages.receive", **at, timeout_ms=patient_ms(walk))
        settle(walk)
        result = walk.client.call(method, **at, timeout_ms=patient_ms(walk))
        if result.ok and result.values["message"].get("body") == "Yw==":
            text = "passes over the message behind the one that was removed: does the driver move the cursor itself?"
            walk.say(what, "doubt", f"{method} {text}")
            return
    walk.say(what, "ok", "the cursor is not moved on")


def end_of_a_transaction(walk: DriverCheck) -> None:
    """End a transaction twice, and close a queue while one is open."""
    what = "end of a transaction"
    format_name = fresh_queue(walk, "end", transactional=True)
    sender = opened(walk, format_name, "send")
    transaction = walk.call("transactions.begin").values["transaction"]
    walk.call("messages.send", queue=sender, message={"body": "YQ=="}, transaction=transaction)
    walk.call("transactions.commit", transaction=transaction)
    again = walk.client.call("transactions.commit", transaction=transaction)
    never = walk.client.call("transactions.commit", transaction="mqconform-no-such-transaction")
    doubts = []
    if again.failure is not None and (_alike(again, never) or _own_words(walk, again)):
        doubts.append(f"a second commit is refused in words of the driver ({result_text(again)}): is the API asked?")
    open_one = walk.call("transactions.begin").values["transaction"]
    walk.call("messages.send", queue=sender, message={"body": "Yg=="}, transaction=open_one)
    if walk.client.offers("queues.close"):
        walk.call("queues.close", queue=sender)
        if not walk.client.call("transactions.commit", transaction=open_one).ok:
            doubts.append("closing a queue ends the transactions that sent to it: does the driver do that?")
    for doubt in doubts:
        walk.say(what, "doubt", doubt)
    if not doubts:
        walk.say(what, "ok", "an ended transaction is the API's to refuse, and nothing else ends one")


def kill_that_is_none(walk: DriverCheck) -> None:
    """Kill with an express message in a queue. It is in memory only: a manager that was killed has lost it."""
    what = "kill"
    if not walk.client.keeps_state:
        raise GiveUp
    format_name = fresh_queue(walk, "kill")
    sender = opened(walk, format_name, "send")
    message: dict[str, Json] = {"body": "YQ=="}
    if walk.client.hello.takes("message", "delivery"):
        message["delivery"] = "express"
    walk.call("messages.send", queue=sender, message=message)
    settle(walk)
    walk.client.restart(kill=True)
    again = walk.client.call("queues.open", format_name=format_name, access="receive")
    if again.ok and _received(walk, again.values["queue"]) is not None:
        text = "an express message is still there after it: does it reach the queue manager, or the driver alone?"
        walk.say(what, "doubt", text)
    else:
        walk.say(what, "ok", "an express message is gone after it")


def _received(walk: DriverCheck, reader: Handle) -> dict[str, Json] | None:
    settle(walk)
    got = walk.client.call("messages.receive", queue=reader, timeout_ms=patient_ms(walk))
    message: dict[str, Json] | None = got.values["message"] if got.ok else None
    return message


def _own_words(walk: DriverCheck, refusal: Result) -> bool:
    """Tell whether a refusal has no HRESULT though the API has them: a receive that finds nothing shows one."""
    if refusal.status is not None:
        return False
    reader = opened(walk, fresh_queue(walk, "empty"))
    return walk.client.call("messages.receive", queue=reader, timeout_ms=0).status is not None


def _alike(one: Result, other: Result) -> bool:
    return one.failure is not None and other.failure is not None and one.failure.kind == other.failure.kind


def careful(probe: Callable[[DriverCheck], None]) -> Callable[[DriverCheck], None]:
    """Return a probe that ends without a word where the driver does not offer what it needs, or its API lacks it."""

    def group(walk: DriverCheck) -> None:
        needs = {"messages.send", "messages.receive", "queues.create", "queues.open", *_NEEDS.get(probe, ())}
        if all(map(walk.client.offers, needs)):
            before = len(walk.steps)
            try:
                probe(walk)
            except (GiveUp, NotAccepted):
                walk.steps[before:] = [step for step in walk.steps[before:] if step.state != "wrong"]

    group.__name__ = probe.__name__
    return group


_NEEDS: dict[Callable[[DriverCheck], None], tuple[str, ...]] = {
    cursor_after_removal: ("cursors.open", "messages.peek"),
    end_of_a_transaction: ("transactions.begin", "transactions.commit"),
}
REPAIRS = tuple(map(careful, (opening, defaults, cursor_after_removal, end_of_a_transaction, kill_that_is_none)))
