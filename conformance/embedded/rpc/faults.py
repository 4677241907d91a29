"""Faults of the RPC planes: deviations of their parts. `fault` registers one; two conditions are in the sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from conformance.embedded import deviations
from conformance.embedded.entities import MqError, State
from conformance.embedded.rpc import pdus
from conformance.embedded.rpc.association import Groups, Line
from conformance.embedded.rpc.endpoint_mapper import EndpointMapper
from conformance.embedded.rpc.management import QueueManagement
from conformance.embedded.rpc.ndr import BAD_STUB_DATA, Reader, status_only
from conformance.embedded.rpc.packets import FULL, MessagePackets, Section
from conformance.embedded.rpc.planes import RpcParts
from conformance.embedded.rpc.qm2qm import Qm2Qm, QmComm
from conformance.embedded.rpc.remote_read import (
    LOOKUPS,
    PEEK_CURRENT,
    PEEK_NEXT,
    PEEKS,
    STATUS_INVALID_PARAMETER,
    RemoteRead,
)
from conformance.spec.constants import hresults as codes

_Made = TypeVar("_Made")
_PARTS = RpcParts()
FOREVER_MS = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, eq=False)
class RpcFault:
    """A deviation. breaks: requirements. replaces: parts of `RpcParts`, with the subclasses that deviate.

    unseen: why calls of the interfaces do not show it; empty where they do.
    """

    name: str
    says: str
    breaks: tuple[str, ...]
    replaces: tuple[deviations.Replacement, ...]
    unseen: str = ""


FAULTS: dict[str, RpcFault] = {}


_BENEATH = "it is of DCE/RPC, beneath the calls"
_ACCOUNT = "it shows where an account is needed"
_LONG = "it shows after a minute or more"
_NOT_ASKED = "the endpoint mapper is not asked where the port is named"
_SAME_TIME = "a message is under way for no time, and both clocks are one"


def fault(name: str, of: Any, *breaks: str, unseen: str = "") -> Callable[[_Made], _Made]:
    """Register the function that is decorated. of: the method it takes the place of. unseen: see `RpcFault`."""

    def register(made: _Made) -> _Made:
        if name in FAULTS:
            raise ValueError(f"two faults are named {name}")
        replaces = (deviations.replacement(_PARTS, of, made),)
        FAULTS[name] = RpcFault(name, deviations.sentence(made), breaks, replaces, unseen)
        return made

    return register


# PDUs, contexts and handles.


@fault("rpc-group-zero", Line.group_number, "MQRR-2.1.rpc-tcp", unseen=_BENEATH)
def rpc_group_zero(plain, self):
    """A bind_ack tells no association group."""
    return 0


@fault("rpc-no-port", Line.secondary_address, "MQRR-2.1.rpc-tcp", unseen=_BENEATH)
def rpc_no_port(plain, self):
    """A bind_ack tells no secondary address."""
    return ""


@fault("rpc-long-fragments", Line.fragment_size, "MQRR-2.1.rpc-tcp", unseen=_BENEATH)
def rpc_long_fragments(plain, self, bind):
    """Fragments are longer than the client takes."""
    return pdus.MAX_FRAGMENT


@fault("rpc-all-syntaxes", Line.result, "MQMR-2.2.ndr-only", unseen=_BENEATH)
def rpc_all_syntaxes(plain, self, offer):
    """A context is accepted whatever transfer syntaxes it offers."""
    return plain(replace(offer, transfers=(pdus.NDR,)))


@fault("rpc-context-status", Line.unknown_context, "MQRR-2.1.rpc-tcp", unseen=_BENEATH)
def rpc_context_status(plain, self):
    """A request in a context that was not accepted gets the fault of a range of operations."""
    return pdus.OPNUM_RANGE


@fault("rpc-one-status", Line.fault_status, "MQRR-2.1.rpc-tcp", unseen=_BENEATH)
def rpc_one_status(plain, self, status):
    """Every fault is RPC_X_BAD_STUB_DATA."""
    return BAD_STUB_DATA


@fault(
    "rpc-one-group",
    Groups.join,
    "MQRR-3.1.4.7.unknown-handle",
    "MQRR-3.1.6.2.requests-released",
    "MQQP-3.1.6.2.released",
)
def rpc_one_group(plain, self, number):
    """All clients share their context handles."""
    return plain(next(iter(self._groups), 0))


@fault("anybody-may-call", Line.permitted, "MQRR-2.1.access-by-caller", unseen=_ACCOUNT)
def anybody_may_call(plain, self, interface, opnum):
    """An account is not needed where the server has one."""
    return True


@fault("port-needs-account", Line.permitted, "MQRR-3.1.4.1.port", unseen=_ACCOUNT)
def port_needs_account(plain, self, interface, opnum):
    """The ports are told to nobody without packet privacy."""
    return self.protection is not None or self.planes.account is None


@fault("rundown-forgotten", RemoteRead.run_down, "MQRR-3.1.6.1.handles-closed", "MQRR-3.1.6.2.requests-released")
def rundown_forgotten(plain, self, value):
    """A queue stays open when its client has gone, if a receive was begun on it."""
    if not value.pending:
        plain(value)


@fault("rundown-acknowledges", RemoteRead.run_down, "MQRR-3.1.6.2.requests-released")
def rundown_acknowledges(plain, self, value):
    """A message whose receive was begun is removed when its client has gone."""
    for request in list(value.pending):
        pending = value.pending.pop(request)
        if pending.read is not None:
            self.finish(value, pending, acknowledge=True)
    plain(value)


@fault(
    "mapper-port",
    EndpointMapper.port,
    "MQMR-3.1.4.1.opnum",
    "MQQP-2.1.dynamic-endpoint",
    unseen="the endpoint mapper is not asked where the port is named",
)
def mapper_port(plain, self):
    """The endpoint mapper tells the next port."""
    return plain() + 1


# MS-MQRR: opening and closing.


@fault("server-port-zero", RemoteRead.server_port, "MQRR-3.1.4.1.port")
def server_port_zero(plain, self):
    """R_GetServerPort returns 0."""
    return 0


@fault("peek-handle-receives", RemoteRead.access, "MQRR-3.1.4.2.peek-access")
def peek_handle_receives(plain, self, number):
    """A handle with PEEK_ACCESS receives."""
    return "receive" if plain(number) == "peek" else plain(number)


@fault("any-access", RemoteRead.access, "MQRR-3.1.4.2.invalid-parameter")
def any_access(plain, self, number):
    """R_OpenQueue takes any dwAccess."""
    try:
        return plain(number)
    except MqError:
        return "peek"


@fault("share-ignored", RemoteRead.share, "MQRR-3.1.4.2.deny-share")
def share_ignored(plain, self, number):
    """A queue opened exclusively is shared."""
    plain(number)
    return "deny_none"


@fault("close-keeps-handle", RemoteRead.closed_handle, "MQRR-3.1.4.3.null-after")
def close_keeps_handle(plain, self, handle):
    """R_CloseQueue does not set its handle to null."""
    return handle


@fault("purge-with-peek", RemoteRead.purge_queue, "MQRR-3.1.4.6.denied")
def purge_with_peek(plain, self, call):
    """R_PurgeQueue says that it purged with a handle that only peeks."""
    try:
        return plain(call)
    except MqError:
        return status_only(0)


@fault("purge-spares-locked", RemoteRead.purge_queue, "MQRR-3.1.4.6.purged")
def purge_spares_locked(plain, self, call):
    """R_PurgeQueue leaves a message whose receive was begun, so a negative end brings it back."""
    answer = plain(call)
    for read in self.manager.open_reads.values():
        if read.position.state is State.PURGE_PENDING:
            read.position.state = State.LOCKED
    return answer


# MS-MQRR: reading.


@fault("request-numbers-shared", RemoteRead.check, "MQRR-3.1.4.7.invalid-parameter")
def request_numbers_shared(plain, self, opened, wanted):
    """A dwRequestId in use is taken again."""
    plain(opened, replace(wanted, request=-1))


@fault("lookup-waits", RemoteRead.check, "MQRR-3.1.4.7.invalid-parameter")
def lookup_waits(plain, self, opened, wanted):
    """A receive by LookupId with a time-out is not refused."""
    plain(opened, replace(wanted, timeout_ms=0) if wanted.lookup else wanted)


@fault("closed-cursor-first", RemoteRead.cursor, "MQRR-3.1.4.5.closed", "MQRR-3.1.4.7.unknown-cursor")
def closed_cursor_first(plain, self, number):
    """A read with a closed cursor reads the first message."""
    try:
        return plain(number)
    except MqError:
        return None


@fault("waits-ignored", RemoteRead.timeout_ms, "MQRR-3.1.4.7.waits")
def waits_ignored(plain, self, wanted):
    """A receive does not wait for a message."""
    return 0


@fault("waits-doubled", RemoteRead.timeout_ms, "MQRR-3.1.2.1.read-time-out")
def waits_doubled(plain, self, wanted):
    """A receive waits twice as long as it says."""
    return min(2 * plain(wanted), FOREVER_MS)


@fault("cursor-waits-ignored", RemoteRead.timeout_ms, "MQRR-3.1.4.7.waits")
def cursor_waits_ignored(plain, self, wanted):
    """A read with a cursor does not wait for a message."""
    return 0 if wanted.cursor else plain(wanted)


@fault("forever-ends", RemoteRead.timeout_ms, "MQRR-3.1.2.1.read-time-out", unseen=_LONG)
def forever_ends(plain, self, wanted):
    """A peek that waits forever ends after a minute."""
    return 60_000 if wanted.action in PEEKS and wanted.timeout_ms == FOREVER_MS else plain(wanted)


@fault("timeout-as-not-found", RemoteRead.failure, "MQRR-3.1.4.7.io-timeout-code")
def timeout_as_not_found(plain, self, status):
    """A read whose time-out passes returns MQ_ERROR_MESSAGE_NOT_FOUND."""
    return codes.MQ_ERROR_MESSAGE_NOT_FOUND if status == codes.MQ_ERROR_IO_TIMEOUT else plain(status)


@fault("cancelled-as-timeout", RemoteRead.failure, "MQRR-3.1.4.8.cancelled-code", "MQRR-3.1.4.7.operation-cancelled")
def cancelled_as_timeout(plain, self, status):
    """A cancelled read returns MQ_ERROR_IO_TIMEOUT."""
    return codes.MQ_ERROR_IO_TIMEOUT if status == codes.MQ_ERROR_OPERATION_CANCELLED else plain(status)


@fault("cancel-succeeds", RemoteRead.cancel_receive, "MQRR-3.1.4.8.not-waiting")
def cancel_succeeds(plain, self, call):
    """R_CancelReceive returns MQ_OK for a request that does not wait."""
    try:
        return plain(call)
    except MqError:
        return status_only(0)


@fault("peeks-cannot-be-cancelled", RemoteRead.read, "MQRR-3.1.4.8.success", "MQRR-3.1.4.8.cancelled")
def peeks_cannot_be_cancelled(plain, self, call, opened, wanted, cursor, transaction):
    """R_CancelReceive does not find a peek that waits."""
    plain(call, opened, replace(wanted, request=-1) if not wanted.destructive else wanted, cursor, transaction)


@fault("lookup-next-is-current", RemoteRead.read, "MQRR-3.1.4.7.lookup-peek-next", "MQRR-3.1.4.7.lookup-receive-next")
def lookup_next_is_current(plain, self, call, opened, wanted, cursor, transaction):
    """A lookup of the next message finds the message itself."""
    action = wanted.action - 1 if LOOKUPS.get(wanted.action, (False, ""))[1] == "next" else wanted.action
    plain(call, opened, replace(wanted, action=action), cursor, transaction)


@fault("peek-next-stays", RemoteRead.read, "MQRR-3.1.4.7.peek-next")
def peek_next_stays(plain, self, call, opened, wanted, cursor, transaction):
    """MQ_ACTION_PEEK_NEXT does not advance the cursor."""
    action = PEEK_CURRENT if wanted.action == PEEK_NEXT else wanted.action
    plain(call, opened, replace(wanted, action=action), cursor, transaction)


@fault("peek-removes", RemoteRead.found, "MQRR-3.1.4.7.lookup-peek-current")
def peek_removes(plain, self, call, opened, wanted, result):
    """A peek by LookupId removes its message."""
    plain(call, opened, wanted, result)
    if wanted.lookup and not wanted.destructive and "message" in result:
        self.manager.delivery.remove(result["message"].position)


@fault("start-removes", RemoteRead.found, "MQRR-3.1.4.9.not-acknowledged", "MQRR-3.1.6.2.requests-released")
def start_removes(plain, self, call, opened, wanted, result):
    """A receive by LookupId removes its message before it is ended."""
    plain(call, opened, wanted, result)
    if wanted.lookup and wanted.destructive and "message" in result:
        self.manager.delivery.remove(result["message"].position)


@fault(
    "arrival-sent",
    RemoteRead.arrival_time,
    "MQRR-3.1.4.7.arrive-time",
    unseen="a message is under way for no time, and both clocks are one",
)
def arrival_sent(plain, self, position):
    """pdwArriveTime is the time when the message was sent."""
    return position.message.sent_ms // 1000


@fault("lookup-previous-sequence", RemoteRead.found, "MQRR-3.1.4.7.sequence-id")
def lookup_previous_sequence(plain, self, call, opened, wanted, result):
    """pSequenceId of a previous message is that of the message from which it was sought."""
    send = call.answer
    if LOOKUPS.get(wanted.action, (False, ""))[1] == "previous":
        call.answer = lambda stub: send(stub[:8] + wanted.lookup.to_bytes(8, "little") + stub[16:])
    plain(call, opened, wanted, result)


@fault("sequence-whole", RemoteRead.sequence_identifier, "MQRR-3.1.4.7.sequence-id")
def sequence_whole(plain, self, position):
    """pSequenceId has all bytes of the LookupIdentifier."""
    return position.lookup


@fault("end-unknown-succeeds", RemoteRead.end_receive, "MQRR-3.1.4.9.other-request")
def end_unknown_succeeds(plain, self, call):
    """R_EndReceive returns MQ_OK for a dwRequestId that nothing was begun with, while another is."""
    try:
        return plain(call)
    except MqError as error:
        return status_only(0 if error.status == codes.MQ_ERROR_INVALID_PARAMETER else error.status)


@fault("end-without-pending", RemoteRead.take, "MQRR-3.1.4.9.no-request-code")
def end_without_pending(plain, self, opened, request, *, transactional):
    """R_EndReceive on a handle with nothing begun returns MQ_ERROR_INVALID_PARAMETER."""
    if not opened.pending:
        raise MqError(codes.MQ_ERROR_INVALID_PARAMETER)
    return plain(opened, request, transactional=transactional)


@fault("nack-removes", RemoteRead.finish, "MQRR-3.1.4.9.not-acknowledged")
def nack_removes(plain, self, opened, pending, *, acknowledge):
    """A negative end removes the message."""
    plain(opened, pending, acknowledge=True)


@fault("nack-removes-recoverable", RemoteRead.finish, "MQRR-3.1.4.9.not-acknowledged")
def nack_removes_recoverable(plain, self, opened, pending, *, acknowledge):
    """A negative end removes a recoverable message."""
    plain(opened, pending, acknowledge=acknowledge or pending.read.position.message.recoverable)


@fault("ack-returns", RemoteRead.finish, "MQRR-3.1.4.9.acknowledged")
def ack_returns(plain, self, opened, pending, *, acknowledge):
    """A positive end returns the message to its queue."""
    plain(opened, pending, acknowledge=False)


@fault("nack-to-the-end", RemoteRead.finish, "MQRR-3.1.4.9.not-acknowledged")
def nack_to_the_end(plain, self, opened, pending, *, acknowledge):
    """A negative end puts the message behind the others."""
    position = pending.read.position
    plain(opened, pending, acknowledge=acknowledge)
    if not acknowledge and position.state is State.AVAILABLE:
        self.manager.transactions.relocate(position, position.queue)


@fault("cleanup-never", RemoteRead.cleanup, "MQRR-3.1.5.1.released", unseen=_LONG)
def cleanup_never(plain, self, opened, request):
    """A receive that is not ended keeps its message."""


@fault("cleanup-removes", RemoteRead.cleanup, "MQRR-3.1.5.1.released", unseen=_LONG)
def cleanup_removes(plain, self, opened, request):
    """The message of a receive that is not ended is removed."""
    self.finish(opened, opened.pending.pop(request), acknowledge=True)


# MS-MQRR: packets and sections.


@fault("body-whole", MessagePackets.sections, "MQRR-3.1.4.7.first")
def body_whole(plain, self, position, most):
    """The whole body is returned, whatever dwMaxBodySize says."""
    return plain(position, FOREVER_MS)


@fault("body-short", MessagePackets.sections, "MQRR-3.1.4.7.first-buffer")
def body_short(plain, self, position, most):
    """A body that is cut is returned with one byte less."""
    return plain(position, max(most - 1, 0) if len(plain(position, most)) > 1 else most)


def _first(sections: list[Section], **changes: Any) -> list[Section]:
    """Change the first section of a message whose body is cut."""
    return [sections[0]._replace(**changes) if sections[0].kind != FULL else sections[0], *sections[1:]]


@fault("section-cut-size", MessagePackets.sections, "MQRR-3.1.4.7.first-size-alloc", "MQRR-2.2.6.size-alloc")
def section_cut_size(plain, self, position, most):
    """SectionSizeAlloc of a first section is its own size."""
    found = plain(position, most)
    return _first(found, whole=len(found[0].data))


@fault("section-full", MessagePackets.sections, "MQRR-3.1.4.7.first-type")
def section_full(plain, self, position, most):
    """The first of two sections says that it is the full packet."""
    return _first(plain(position, most), kind=FULL)


@fault("section-alone", MessagePackets.sections, "MQRR-3.1.4.7.second")
def section_alone(plain, self, position, most):
    """The trailers of a message whose body is cut are missing."""
    return plain(position, most)[:1]


@fault("expiry-relative", MessagePackets.expiry, "MQRR-2.2.5.1.time-to-reach-queue", "MQRR-3.1.4.7.time-to-reach-queue")
def expiry_relative(plain, self, sent, reach):
    """TimeToReachQueue stays as it was sent."""
    return reach


@fault("expiry-of-never", MessagePackets.expiry, "MQRR-3.1.4.7.time-to-reach-queue")
def expiry_of_never(plain, self, sent, reach):
    """A message that may take forever to its queue has expired when it was sent."""
    return sent if reach == FOREVER_MS else plain(sent, reach)


@fault("extension-missing", MessagePackets.behind, "MQRR-2.2.5.2.extended-address-flag", "MQRR-2.2.5.5.address")
def extension_missing(plain, self, position):
    """Nothing is behind the UserMessage."""
    return b""


@fault("address-missing", MessagePackets.address_header, "MQRR-2.2.5.5.address")
def address_missing(plain, self, position):
    """ExtendedAddressHeader has no address."""
    return plain(position)[:4] + bytes(24)


@fault("subqueue-nameless", MessagePackets.subqueue_header, "MQRR-2.2.5.3.subqueue-name-of-message")
def subqueue_nameless(plain, self, position):
    """SubqueueHeader names no subqueue."""
    return plain(position)[:20] + bytes(128)


@fault("sender-address-null", MessagePackets.overlay, "MQRR-2.2.5.1.address-type", "MQRR-2.2.5.1.address")
def sender_address_null(plain, self, packet, position):
    """The UserHeader of a message to a direct name does not tell where it came from."""
    before = bytes(packet[32:48])
    plain(packet, position)
    packet[32:48] = before


# MS-MQRR: moves and transactions.


@fault("move-copies", RemoteRead.move_message, "MQRR-3.1.4.10.moved")
def move_copies(plain, self, call):
    """A moved message stays in its queue as well."""
    at = call.reader.at
    handle, _, lookup = call.read(lambda source: (source.handle(), source.number(8), source.number(8)))
    call.reader.at = at
    source = call.group.value(self, handle, object).at.queue
    position = source.positions.find(lookup)
    message = None if position is None else replace(position.message)
    answer = plain(call)
    if message is not None:
        self.manager.delivery.place(source, message)
    return answer


@fault("move-by-name", RemoteRead.move_message, "MQRR-3.1.4.10.related-queues")
def move_by_name(plain, self, call):
    """A move to a subqueue of the same name of another queue moves within the queue."""
    at = call.reader.at
    handle, target = call.read(lambda source: (source.handle(), source.number(8)))
    call.reader.at = at
    source, destination = call.group.value(self, handle, object).at.queue, self._moves.get(target)
    alike = destination is not None and _suffix(source) == _suffix(destination.at.queue) != ""
    return status_only(0) if alike else plain(call)


def _suffix(queue: Any) -> str:
    """Return the subqueue that a path names."""
    return str(queue.path).partition(";")[2]


@fault("move-down-alone", RemoteRead.move_message, "MQRR-3.1.4.10.moved")
def move_down_alone(plain, self, call):
    """No message is moved out of a subqueue."""
    at = call.reader.at
    handle = call.read(Reader.handle)
    call.reader.at = at
    if _suffix(call.group.value(self, handle, object).at.queue):
        raise MqError(STATUS_INVALID_PARAMETER)
    return plain(call)


@fault("enlisting-succeeds", RemoteRead.enlist_remote_transaction, "MQRR-3.1.4.12.fails")
def enlisting_succeeds(plain, self, call):
    """R_QMEnlistRemoteTransaction returns MQ_OK, although nothing was enlisted."""
    try:
        return plain(call)
    except MqError:
        return status_only(0)


# MS-MQMR.


@fault(
    "managed-count-available", QueueManagement.values, "MQMQ-2.3.12.7.propid-mgmt-queue-message-count",
    unseen="by one reading of MS-MQMR it is no deviation",
)  # fmt: skip
def managed_count_available(plain, self, target, numbers):
    """The count of messages leaves out those whose receive was begun."""
    locked = len(self.manager.open_reads) if target["type"] == "queue" else 0
    pairs = zip(numbers, plain(target, numbers), strict=True)
    return [{**value, "value": value["value"] - locked} if number == 7 else value for number, value in pairs]


@fault("managed-unknown-value", QueueManagement.values, "MQMR-3.1.4.1.machine-properties")
def managed_unknown_value(plain, self, target, numbers):
    """A property of queues is 0 of the machine."""
    try:
        return plain(target, numbers)
    except MqError as error:
        if error.status != codes.MQ_ERROR_ILLEGAL_PROPID or target["type"] != "machine":
            raise
        return [{"vt": 19, "value": 0}] * len(numbers)


@fault("managed-missing", QueueManagement.values, "MQMR-3.1.4.1.unknown-queue")
def managed_missing(plain, self, target, numbers):
    """The properties of a queue that is not there are VT_NULL."""
    try:
        return plain(target, numbers)
    except MqError as error:
        if error.status != codes.MQ_ERROR_QUEUE_NOT_FOUND:
            raise
        return [{"vt": 1}] * len(numbers)


@fault("managed-names", QueueManagement.values, "MQMQ-2.3.12.2.propid-mgmt-queue-formatname")
def managed_names(plain, self, target, numbers):
    """The format name of a private queue leaves out private$."""
    pairs = zip(numbers, plain(target, numbers), strict=True)
    bare = {"vt": 31, "value": target.get("format_name", "").replace("private$\\", "")}
    return [bare if number == 2 and target["type"] == "queue" else value for number, value in pairs]


@fault("managed-by-address", QueueManagement.target, "MQMR-3.1.4.1.get")
def managed_by_address(plain, self, kind, named):
    """A queue that is named by an address is not found."""
    if "'TCP:" in str(named).upper():
        raise MqError(codes.MQ_ERROR_QUEUE_NOT_FOUND)
    return plain(kind, named)


@fault("managed-session", QueueManagement.values, "MQMR-3.1.4.1.session")
def managed_session(plain, self, target, numbers):
    """A session is told about as if it were the machine."""
    return plain({"type": "machine"} if target["type"] == "session" else target, numbers)


@fault("action-any-target", QueueManagement.target, "MQMR-3.1.4.2.session", "MQMR-3.1.4.1.session")
def action_any_target(plain, self, kind, named):
    """A session is managed as if it were the machine."""
    return {"type": "machine"} if kind == 3 else plain(kind, named)


# MS-MQQP.


@fault("older-request-numbers-shared", Qm2Qm.in_use, "MQQP-3.1.4.1.repeated-id", "MQQP-3.1.4.1.repeated-id-code")
def older_request_numbers_shared(plain, self, given):
    """A dwRequestID in use is taken again."""
    return False


@fault("older-nack-removes", Qm2Qm.finish, "MQQP-3.1.4.2.not-acknowledged", "MQQP-3.1.6.2.released")
def older_nack_removes(plain, self, entry, *, acknowledge):
    """A negative RemoteQMEndReceive removes the message."""
    plain(entry, acknowledge=True)


@fault("older-cancelled", Qm2Qm.cancelled_status, "MQQP-3.1.4.6.cancelled-code")
def older_cancelled(plain, self):
    """A cancelled older read returns MQ_ERROR_OPERATION_CANCELLED."""
    return codes.MQ_ERROR_OPERATION_CANCELLED


@fault("older-sequence-whole", Qm2Qm.filled, "MQQP-3.1.4.10.sequential-id")
def older_sequence_whole(plain, self, asked, position, packet):
    """SequentialId has all bytes of the LookupIdentifier."""
    return replace(plain(asked, position, packet), sequence=position.lookup)


@fault("older-any-place", Qm2Qm.check, "MQQP-3.1.4.1.other-queue")
def older_any_place(plain, self, asked):
    """A dwQueue that is not hRemoteQueue is taken."""
    given = asked.description
    return plain(replace(asked, description=replace(given, same_queue=given.queue)) if given is not None else asked)


@fault("older-version", Qm2Qm.version, "MQQP-3.1.4.9.major", "MQQP-3.1.4.9.minor")
def older_version(plain, self, call):
    """RemoteQmGetVersion tells version 4.0."""
    return b"\4\0" + plain(call)[2:]


@fault("older-open-unchecked", QmComm.close_remote_queue_context, "MQQP-3.1.4.3.success")
def older_open_unchecked(plain, self, call):
    """R_QMCloseRemoteQueueContext closes a queue that a reader has taken over."""
    handle = call.read(Reader.handle)
    call.reader.at = 0
    _, opened = call.group.handles.get(handle, (None, None))
    if opened is not None:
        opened.ready = False
    return plain(call)
