"""Faults of texts with a grammar that are not queue names: labels and multicast addresses; and of connectors.

MS-MQMQ 2.1.6, 2.1.7, 2.2.19.3, 2.3.1.8, 2.3.1.23 and 2.4; MS-MQDMPR 3.1.1.12.
"""

from __future__ import annotations

import re
from typing import Any

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.names import Name, NameParser
from conformance.embedded.queues import Queues
from conformance.embedded.sending import MAX_LABEL, Sending
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_FORMATNAME,
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_LABEL_TOO_LONG,
)

Json = Any
_LABEL, _MULTICAST = "PROPID_Q_LABEL", "PROPID_Q_MULTICAST_ADDRESS"
_LONGEST_QUEUE_LABEL = 124
_ADDRESS = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3}){3})(:[0-9]{1,9})?\Z")


@fault("forgets-suffix-of-connector", NameParser._connector, "MQMQ-2.1.6.connector-suffix")
def forgets_suffix_of_connector(plain, self, text, rest):
    """`;XACTONLY` behind a connector is read and forgotten."""
    found = plain(text, rest)
    return Name(text, found.kind, {"guid": found.parts["guid"]}) if found else None


@fault("takes-connector-for-read-only", NameParser.multiple, "MQMQ-2.1.7.mixed")
def takes_connector_for_read_only(plain, self, text):
    """The transactional queue of a connector may not stand among several elements, as if it were a journal."""
    if any(element.lower().endswith(";xactonly") for element in self.elements(text[:4096])):
        raise MqError(MQ_ERROR_ILLEGAL_FORMATNAME)
    return plain(text)


@fault("keeps-any-queue-label", Queues.properties_to_keep, "MQMQ-2.3.1.8.label-maximum")
def keeps_any_queue_label(plain, self, given, *, creating):
    """The label of a queue may be of any length."""
    label = given.get(_LABEL)
    others = {name: value for name, value in given.items() if name != _LABEL}
    kept = plain(others, creating=creating)
    return kept | {_LABEL: label} if isinstance(label, str) else kept


@fault(
    "cuts-longest-queue-label", Queues.properties_to_keep, "MQDMPR-3.1.7.1.3.attribute-label",
    "MQMQ-2.3.1.8.label-maximum",
)  # fmt: skip
def cuts_longest_queue_label(plain, self, given, *, creating):
    """The label of a queue loses its last character when it is as long as it may be."""
    kept = plain(given, creating=creating)
    return kept | {_LABEL: kept[_LABEL][: _LONGEST_QUEUE_LABEL - 1]} if _LABEL in kept else kept


class _TaintedQueues(Queues):
    """Takes the multicast addresses of `lawful` for lawful, beside those that are."""

    def lawful(self, address: str, port: str | None) -> bool:
        return False

    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        value = given.get(_MULTICAST)
        found = _ADDRESS.match(value) if isinstance(value, str) else None
        if found is None or not self.lawful(found[1], found[2][1:] if found[2] else None):
            return super().properties_to_keep(given, creating=creating)
        others = {name: each for name, each in given.items() if name != _MULTICAST}
        return super().properties_to_keep(others, creating=creating) | {_MULTICAST: value}


@fault("keeps-any-address-as-multicast", "queues", "MQMQ-2.3.1.23.class-d", "MQMQ-2.3.1.23.multicast-address-rule")
class KeepsAnyAddressAsMulticast(_TaintedQueues):
    """The multicast address of a queue may be any IPv4 address."""

    def lawful(self, address: str, port: str | None) -> bool:
        octets = address.split(".")
        return port is not None and int(port) <= 65535 and all(int(octet) <= 255 for octet in octets)


@fault("keeps-multicast-without-port", "queues", "MQMQ-2.3.1.23.address", "MQMQ-2.3.1.23.multicast-address-rule")
class KeepsMulticastWithoutPort(_TaintedQueues):
    """The multicast address of a queue may lack its port."""

    def lawful(self, address: str, port: str | None) -> bool:
        return port is None and 224 <= int(address.partition(".")[0]) <= 239


@fault("keeps-multicast-with-large-port", "queues", "MQMQ-2.3.1.23.multicast-address-rule")
class KeepsMulticastWithLargePort(_TaintedQueues):
    """The port of the multicast address of a queue may be more than 65535."""

    def lawful(self, address: str, port: str | None) -> bool:
        octets = [int(octet) for octet in address.split(".")]
        return port is not None and int(port) > 65535 and 224 <= octets[0] <= 239 and max(octets) <= 255


@fault("keeps-refused-properties", Queues.set, "MQMP-3.1.4.10.refused-unchanged")
def keeps_refused_properties(plain, self, format_name, given):
    """A value of a property that is refused is kept all the same."""
    try:
        plain(format_name, given)
    except MqError as error:
        if error.status == MQ_ERROR_ILLEGAL_PROPERTY_VALUE:
            self._owner(format_name).properties |= given
        raise


@fault(
    "counts-label-in-letters", Sending.label_bytes, "MQDMPR-3.1.1.12.label-length",
    "MQMQ-2.2.19.3.label-length-maximum", "MQMQ-2.4.label-too-long",
)  # fmt: skip
def counts_label_in_letters(plain, self, fields):
    """The longest label of a message is counted in letters, of which some take two elements of the packet's field."""
    label = fields["label"]
    usual = "x" * len(label) if isinstance(label, str) and "\0" not in label else label
    return plain({**fields, "label": usual})


@fault("cuts-long-label", Sending.label_bytes, "MQMQ-2.4.label-too-long", "MQDMPR-3.1.1.12.label-length")
def cuts_long_label(plain, self, fields):
    """A label of a message that is too long is cut to half of the longest, and the message sent."""
    try:
        return plain(fields)
    except MqError as error:
        if error.status != MQ_ERROR_LABEL_TOO_LONG:
            raise
        fields["label"] = fields["label"][: MAX_LABEL // 2]
        return plain(fields)


@fault("refuses-longest-label", Sending.label_bytes, "MQDMPR-3.1.1.12.label-length")
def refuses_longest_label(plain, self, fields):
    """The terminating null is counted among the characters of a message's label."""
    size = plain(fields)
    if size > 2 * MAX_LABEL:
        raise MqError(MQ_ERROR_LABEL_TOO_LONG)
    return size


@fault("other-code-for-long-label", Sending.label_bytes, "MQMQ-2.4.label-too-long-code")
def other_code_for_long_label(plain, self, fields):
    """A label that is too long is refused as any illegal value is."""
    try:
        return plain(fields)
    except MqError:
        raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE) from None


@fault("loses-letters-of-label", Sending.label_bytes, "MQDMPR-3.1.1.12.label-unchanged")
def loses_letters_of_label(plain, self, fields):
    """Letters of a label that take two elements of UTF-16 become question marks."""
    size = plain(fields)
    fields["label"] = "".join(char if char <= "\uffff" else "?" for char in fields["label"])
    return size


@fault("takes-null-in-label", Sending.label_bytes, "MQDMPR-3.1.1.12.label-unchanged", "MQMQ-2.2.19.3.label-rule")
def takes_null_in_label(plain, self, fields):
    """A null in the middle of a message's label is taken, for a space."""
    label = fields["label"]
    fields["label"] = label.replace("\0", " ") if isinstance(label, str) else label
    return plain(fields)


@fault("tells-path-with-slashes", Queues.get, "MQMQ-2.1.1.sent", "MQDMPR-3.1.7.1.3.attribute-pathname")
def tells_path_with_slashes(plain, self, format_name, names):
    """The path name among the properties of a queue has slashes where a path name has backslashes."""
    values = plain(format_name, names)
    path = values.get("PROPID_Q_PATHNAME")
    return values | {"PROPID_Q_PATHNAME": path.replace("\\", "/")} if path is not None else values
