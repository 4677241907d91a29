"""Faults of rights that show under two conditions at once: how a queue is named, and what is done to it."""

from __future__ import annotations

import base64
import struct
from dataclasses import replace

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.queues import Queues
from conformance.embedded.security import OWNER, Security, entries_of, listed
from conformance.spec.constants.hresults import MQ_ERROR_ACCESS_DENIED, MQ_ERROR_QUEUE_EXISTS

_UPDATES, _OWNER = "MQMP-3.1.4.6.updates", "MQMQ-2.2.3.owner-security-information"


def _as_anybody(self, perform, *given):
    """Perform as the user who may do everything."""
    security = self.manager.security
    caller, security.caller = security.caller, None
    try:
        return perform(*given)
    finally:
        security.caller = caller


@fault("capitals-need-no-right", Queues.open, "MQMQ-2.2.24.mqsec-write-message", "MQMQ-2.2.24.mqsec-peek-message",
       "MQMQ-2.2.24.mqsec-receive-message")  # fmt: skip
def capitals_need_no_right(plain, self, format_name, access, share):
    """A queue that is named by capitals is opened for everybody."""
    given = format_name, access, share
    return _as_anybody(self, plain, *given) if "PRIVATE$" in format_name else plain(*given)


@fault(
    "set-by-number-ends-with-the-process", Security.set, "MQDMPR-3.1.1.2.private-attributes-persistent",
    "MQDMPR-3.1.1.2.security",
)  # fmt: skip
def set_by_number_ends_with_the_process(plain, self, target, information, descriptor):
    """A descriptor that is set under the number of its queue is not stored."""
    queue = self._queue(target) if "PRIVATE=" in str(target.get("format_name")) else None
    before = None if queue is None else queue.properties.get("descriptor")
    plain(target, information, descriptor)
    if queue is not None:
        after = queue.properties["descriptor"]
        self.manager.queues.change(queue, {"descriptor": before})
        queue.properties["descriptor"] = after


@fault("set-by-capitals-changes-nothing", Security.set, _UPDATES, "MQMQ-2.2.3.dacl-security-information")
def set_by_capitals_changes_nothing(plain, self, target, information, descriptor):
    """A set of a queue that is named by capitals succeeds and changes nothing."""
    queue = self._queue(target) if "PRIVATE$" in str(target.get("format_name")) else None
    before = None if queue is None else queue.properties.get("descriptor")
    plain(target, information, descriptor)
    if queue is not None:
        self.manager.queues.change(queue, {"descriptor": before})


@fault("owner-behind-the-list-is-not-set", Security.set, _OWNER, _UPDATES)
def owner_behind_the_list_is_not_set(plain, self, target, information, descriptor):
    """A set leaves the owner where the bytes have it behind the list."""
    head = base64.b64decode(descriptor)[:20]
    owner, _, _, dacl = struct.unpack_from("<IIII", head, 4) if len(head) == 20 else (0, 0, 0, 0)
    plain(target, information & ~OWNER if 0 < dacl < owner else information, descriptor)


@fault("groups-deny-nothing-of-the-manager", Security.need_of_machine,
       *(f"MQMQ-2.2.23.mqsec-{word}" for word in (
           "create-queue", "get-machine-properties", "peek-deadletter-message", "peek-journal-queue-message",
           "get-machine-permissions")))  # fmt: skip
def groups_deny_nothing_of_the_manager(plain, self, right):
    """An entry that denies a right of the manager to a group of the caller changes nothing."""
    descriptor = self.of_machine()
    if self.caller is None or not descriptor.dacl:
        plain(right)
        return
    entries = [one for one in entries_of(descriptor.dacl) if one.kind != 1 or one.sid not in self.caller.groups]
    self.need(replace(descriptor, dacl=listed(*entries)), right)


@fault("refused-create-leaves-a-queue", Queues.create, "MQMQ-2.2.23.mqsec-create-queue",
       "MQMP-3.1.4.5.refused-no-queue")  # fmt: skip
def refused_create_leaves_a_queue(plain, self, path_name, given):
    """A queue is created though its creator has not the right to, and is told so."""
    try:
        return plain(path_name, given)
    except MqError as failure:
        if failure.status == MQ_ERROR_ACCESS_DENIED:
            _as_anybody(self, plain, path_name, given)
        raise


@fault("create-of-an-existing-queue-takes-it", Queues.create, "MQMP-3.1.4.5.existing-queue-unaltered")
def create_of_an_existing_queue_takes_it(plain, self, path_name, given):
    """Who tries to create a queue that exists is its owner from then on."""
    try:
        return plain(path_name, given)
    except MqError as failure:
        security = self.manager.security
        name = f"DIRECT=OS:{self.manager.computer}\\{path_name.partition(chr(92))[2]}"
        queue = self.find_local(name) if failure.status == MQ_ERROR_QUEUE_EXISTS else None
        if queue is not None and security.caller is not None:
            security.keep(queue, replace(security.of_queue(queue), owner=security.caller.sid))
        raise


@fault("queue-of-a-dot-has-no-creator", Queues.create, "MQDMPR-3.1.7.1.3.1.caller-owner",
       "MQMQ-2.2.23.mqsec-create-queue")  # fmt: skip
def queue_of_a_dot_has_no_creator(plain, self, path_name, given):
    """A queue whose path name begins with a dot belongs to the user who may do everything."""
    return _as_anybody(self, plain, path_name, given) if path_name.startswith(".") else plain(path_name, given)
