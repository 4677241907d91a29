"""Faults of how a property is told: in another variant type, as a word that no document has, as another status."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from conformance.embedded.entities import SEQUENCE_BITS, PositionList, Queue
from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.management import MACHINE, QUEUE, Management
from conformance.embedded.transfers import STATUS, Transfer, Transfers
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.properties import PROPERTIES

Json = Any
_VT = ENUMERATIONS["VARENUM"].members
_PAIRS = (
    ("VT_LPWSTR", "VT_CLSID"),
    ("VT_UI4", "VT_I4"),
    ("VT_I4", "VT_UI4"),
    ("VT_I8", "VT_UI8"),
    ("VT_BLOB", "VT_CLSID"),
)
_OTHER = {_VT[one]: _VT[other] for one, other in _PAIRS}  # of the same form in JSON, so that an answer stays one


class _OtherType(Management):
    method: ClassVar[str]

    def value(self, method: str, variant: int, *of: Queue) -> Json:
        told = super().value(method, variant, *of)
        if method != self.method or "value" not in told:
            return told
        if variant == _VT["VT_VARIANT"] | _VT["VT_VECTOR"]:  # without its last item
            return {**told, "value": told["value"][:-1]}
        return {**told, "vt": variant & _VT["VT_VECTOR"] | _OTHER[variant & ~_VT["VT_VECTOR"]]}


for _property, _method in (*MACHINE.items(), *QUEUE.items()):
    if _method == "directory_server":  # this manager has none: it tells VT_NULL
        continue
    row(
        __name__,
        "management",
        f"{kebab(_method)}-of-another-type",
        f"{_property} is told with another variant type, or without the last of its items.",
        (f"MQMQ-{PROPERTIES[_property].section}.{kebab(_property.lower())}",),
        subclass_of=_OtherType,
        method=_method,
    )

# Method, the word it tells, what it tells instead, and the demands broken.
_WORDS = (
    ("queue_type", "PRIVATE", "PRIVATE QUEUE", "2.3.12.3.values", "2.3.12.3.mgmt-queue-type-private"),
    ("queue_type", "MULTICAST", "BROADCAST", "2.3.12.3.values", "2.3.12.3.mgmt-queue-type-multicast"),
    ("location", "LOCAL", "HERE", "2.3.12.4.values", "2.3.12.4.mgmt-queue-local-location"),
    ("location", "LOCAL", "REMOTE", "2.3.12.4.mgmt-queue-local-location"),
    ("transactional", "NO", "MAYBE", "2.3.12.5.values", "2.3.12.5.mgmt-queue-not-transactional-type"),
    ("foreign", "NO", "MAYBE", "2.3.12.6.values", "2.3.12.6.mgmt-queue-not-foreign-type"),
    ("connected", "CONNECTED", "ONLINE", "2.3.11.4.values", "2.3.11.4.msmq-connected"),
    ("state", "CONNECTED", "UP", "2.3.12.11.values", "2.3.12.11.mgmt-queue-state-connected"),
    ("state", "DISCONNECTED", "DOWN", "2.3.12.11.values", "2.3.12.11.mgmt-queue-state-disconnected"),
    ("state", "DISCONNECTING", "CLOSING", "2.3.12.11.values", "2.3.12.11.mgmt-queue-state-disconnecting"),
    ("state", "NEED VALIDATION", "INVALID", "2.3.12.11.values", "2.3.12.11.mgmt-queue-state-need-validate"),
    ("state", "WAITING", "PENDING", "2.3.12.11.values", "2.3.12.11.mgmt-queue-state-waiting"),
)


def _instead(method: str, word: str, other: str) -> Json:
    def tell(self: Management, *of: Queue) -> str:
        told = str(getattr(Management, method)(self, *of))
        return other if told == word else told

    return tell


for _method, _word, _other, *_breaks in _WORDS:
    row(
        __name__,
        "management",
        kebab(f"{_method}-{_word}-told-as-{_other}".lower().replace(" ", "-")),
        f"The {_method.replace('_', ' ')} {_word} is told as {_other}.",
        tuple(_breaks),
        under="MQMQ-",
        **{_method: _instead(_method, _word, _other)},
    )


class _OtherStatus(Transfers):
    status: ClassVar[str]

    def record(self, transfer: Transfer, step: str, error: int) -> None:
        super().record(transfer, step, error)
        if step == self.status:
            other = next(each for each in STATUS.values() if each != STATUS[step])
            transfer.history[-1] = replace(transfer.history[-1], status=other)


# The steps of a connection, and what MS-MQMQ 2.3.12.25 calls their statuses.
_STATUSES = {
    "in_process": "in-process",
    "establish_packet_received": "packet-received",
    "established": "ready",
    "unknown_failure": "unknown-failure",
    "socket_create_failure": "create-socket-failure",
    "socket_bind_failure": "bind-socket-failure",
    "tcp_not_enabled": "tcp-not-enabled",
    "socket_send_failure": "send-failure",
    "connection_not_ready": "not-ready-failure",
    "dns_failure": "dns-failure",
    "certificate_validation_failure": "certificate-failure",
    "connection_limit_reached": "connection-limit",
    "routing_data_not_available": "no-directory",
    "low_resource": "low-memory",
}
for _step, _status in _STATUSES.items():
    row(
        __name__,
        "transfers",
        f"{kebab(_step)}-told-as-another",
        f"The connection history tells {_step.replace('_', ' ')} with another status.",
        (f"MQDMPR-3.1.1.3.history-{kebab(_step)}", f"MQMQ-2.3.12.25.{_status}"),
        subclass_of=_OtherStatus,
        status=_step,
    )


@fault("lookup-identifiers-begin-one-higher", "positions", "MQDMPR-3.1.7.1.9.lookup-identifier-priority")
class _OneHigher(PositionList):
    """The high byte of a lookup identifier is 8 less the priority."""

    @staticmethod
    def lookup_identifier(message: Any, sequence: int) -> int:
        return PositionList.lookup_identifier(message, sequence) + (1 << SEQUENCE_BITS)
