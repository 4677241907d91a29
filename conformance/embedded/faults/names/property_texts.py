"""Faults of texts with a grammar that are not queue names: labels and multicast addresses; and of connectors.

MS-MQMQ 2.1.6, 2.1.7, 2.2.19.3, 2.3.1.8, 2.3.1.23 and 2.4; MS-MQDMPR 3.1.1.12.
"""

from __future__ import annotations

import re
from typing import Any

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import Fault
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


class _BareConnectorParser(NameParser):
    def _connector(self, text: str, rest: str) -> Name | None:
        found = super()._connector(text, rest)
        return Name(text, found.kind, {"guid": found.parts["guid"]}) if found else None


class ForgetsSuffixOfConnector(Fault):
    """`;XACTONLY` behind a connector is read and forgotten."""

    name = "forgets-suffix-of-connector"
    breaks = ("MQMQ-2.1.6.connector-suffix",)
    replaces = ("names", _BareConnectorParser)


class _ReadOnlyConnectorParser(NameParser):
    def multiple(self, text: str) -> Name:
        if any(element.lower().endswith(";xactonly") for element in self.elements(text[:4096])):
            raise MqError(MQ_ERROR_ILLEGAL_FORMATNAME)
        return super().multiple(text)


class TakesConnectorForReadOnly(Fault):
    """The transactional queue of a connector may not stand among several elements, as if it were a journal."""

    name = "takes-connector-for-read-only"
    breaks = ("MQMQ-2.1.7.mixed",)
    replaces = ("names", _ReadOnlyConnectorParser)


class _AnyLabelQueues(Queues):
    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        label = given.get(_LABEL)
        others = {name: value for name, value in given.items() if name != _LABEL}
        kept = super().properties_to_keep(others, creating=creating)
        return kept | {_LABEL: label} if isinstance(label, str) else kept


class KeepsAnyQueueLabel(Fault):
    """The label of a queue may be of any length."""

    name = "keeps-any-queue-label"
    breaks = ("MQMQ-2.3.1.8.label-maximum",)
    replaces = ("queues", _AnyLabelQueues)


class _CuttingQueues(Queues):
    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        kept = super().properties_to_keep(given, creating=creating)
        return kept | {_LABEL: kept[_LABEL][: _LONGEST_QUEUE_LABEL - 1]} if _LABEL in kept else kept


class CutsLongestQueueLabel(Fault):
    """The label of a queue loses its last character when it is as long as it may be."""

    name = "cuts-longest-queue-label"
    breaks = (
        "MQDMPR-3.1.7.1.3.attribute-label",
        "MQMQ-2.3.1.8.label-maximum",
    )
    replaces = ("queues", _CuttingQueues)


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


class _AnyClassQueues(_TaintedQueues):
    def lawful(self, address: str, port: str | None) -> bool:
        octets = address.split(".")
        return port is not None and int(port) <= 65535 and all(int(octet) <= 255 for octet in octets)


class KeepsAnyAddressAsMulticast(Fault):
    """The multicast address of a queue may be any IPv4 address."""

    name = "keeps-any-address-as-multicast"
    breaks = (
        "MQMQ-2.3.1.23.class-d",
        "MQMQ-2.3.1.23.multicast-address-rule",
    )
    replaces = ("queues", _AnyClassQueues)


class _NoPortQueues(_TaintedQueues):
    def lawful(self, address: str, port: str | None) -> bool:
        return port is None and 224 <= int(address.partition(".")[0]) <= 239


class KeepsMulticastWithoutPort(Fault):
    """The multicast address of a queue may lack its port."""

    name = "keeps-multicast-without-port"
    breaks = (
        "MQMQ-2.3.1.23.address",
        "MQMQ-2.3.1.23.multicast-address-rule",
    )
    replaces = ("queues", _NoPortQueues)


class _LargePortQueues(_TaintedQueues):
    def lawful(self, address: str, port: str | None) -> bool:
        octets = [int(octet) for octet in address.split(".")]
        return port is not None and int(port) > 65535 and 224 <= octets[0] <= 239 and max(octets) <= 255


class KeepsMulticastWithLargePort(Fault):
    """The port of the multicast address of a queue may be more than 65535."""

    name = "keeps-multicast-with-large-port"
    breaks = ("MQMQ-2.3.1.23.multicast-address-rule",)
    replaces = ("queues", _LargePortQueues)


class _StubbornQueues(Queues):
    def set(self, format_name: str, given: dict[str, Json]) -> None:
        try:
            super().set(format_name, given)
        except MqError as error:
            if error.status == MQ_ERROR_ILLEGAL_PROPERTY_VALUE:
                self._owner(format_name).properties |= given
            raise


class KeepsRefusedProperties(Fault):
    """A value of a property that is refused is kept all the same."""

    name = "keeps-refused-properties"
    breaks = ("MQMP-3.1.4.10.refused-unchanged",)
    replaces = ("queues", _StubbornQueues)


class _LetterCounting(Sending):
    def label_bytes(self, fields: dict[str, Json]) -> int:
        label = fields["label"]
        plain = "x" * len(label) if isinstance(label, str) and "\0" not in label else label
        return super().label_bytes({**fields, "label": plain})


class CountsLabelInLetters(Fault):
    """The longest label of a message is counted in letters, of which some take two elements of the packet's field."""

    name = "counts-label-in-letters"
    breaks = (
        "MQDMPR-3.1.1.12.label-length",
        "MQMQ-2.2.19.3.label-length-maximum",
        "MQMQ-2.4.label-too-long",
    )
    replaces = ("sending", _LetterCounting)


class _CuttingSending(Sending):
    def label_bytes(self, fields: dict[str, Json]) -> int:
        try:
            return super().label_bytes(fields)
        except MqError as error:
            if error.status != MQ_ERROR_LABEL_TOO_LONG:
                raise
            fields["label"] = fields["label"][: MAX_LABEL // 2]
            return super().label_bytes(fields)


class CutsLongLabel(Fault):
    """A label of a message that is too long is cut to half of the longest, and the message sent."""

    name = "cuts-long-label"
    breaks = (
        "MQMQ-2.4.label-too-long",
        "MQDMPR-3.1.1.12.label-length",
    )
    replaces = ("sending", _CuttingSending)


class _ShorterSending(Sending):
    def label_bytes(self, fields: dict[str, Json]) -> int:
        size = super().label_bytes(fields)
        if size > 2 * MAX_LABEL:
            raise MqError(MQ_ERROR_LABEL_TOO_LONG)
        return size


class RefusesLongestLabel(Fault):
    """The terminating null is counted among the characters of a message's label."""

    name = "refuses-longest-label"
    breaks = ("MQDMPR-3.1.1.12.label-length",)
    replaces = ("sending", _ShorterSending)


class _OtherCodeSending(Sending):
    def label_bytes(self, fields: dict[str, Json]) -> int:
        try:
            return super().label_bytes(fields)
        except MqError:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE) from None


class OtherCodeForLongLabel(Fault):
    """A label that is too long is refused as any illegal value is."""

    name = "other-code-for-long-label"
    breaks = ("MQMQ-2.4.label-too-long-code",)
    replaces = ("sending", _OtherCodeSending)


class _NarrowSending(Sending):
    def label_bytes(self, fields: dict[str, Json]) -> int:
        size = super().label_bytes(fields)
        fields["label"] = "".join(char if char <= "\uffff" else "?" for char in fields["label"])
        return size


class LosesLettersOfLabel(Fault):
    """Letters of a label that take two elements of UTF-16 become question marks."""

    name = "loses-letters-of-label"
    breaks = ("MQDMPR-3.1.1.12.label-unchanged",)
    replaces = ("sending", _NarrowSending)


class _NullSending(Sending):
    def label_bytes(self, fields: dict[str, Json]) -> int:
        label = fields["label"]
        fields["label"] = label.replace("\0", " ") if isinstance(label, str) else label
        return super().label_bytes(fields)


class TakesNullInLabel(Fault):
    """A null in the middle of a message's label is taken, for a space."""

    name = "takes-null-in-label"
    breaks = (
        "MQDMPR-3.1.1.12.label-unchanged",
        "MQMQ-2.2.19.3.label-rule",
    )
    replaces = ("sending", _NullSending)


class _SlashQueues(Queues):
    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        values = super().get(format_name, names)
        path = values.get("PROPID_Q_PATHNAME")
        return values | {"PROPID_Q_PATHNAME": path.replace("\\", "/")} if path is not None else values


class TellsPathWithSlashes(Fault):
    """The path name among the properties of a queue has slashes where a path name has backslashes."""

    name = "tells-path-with-slashes"
    breaks = (
        "MQMQ-2.1.1.sent",
        "MQDMPR-3.1.7.1.3.attribute-pathname",
    )
    replaces = ("queues", _SlashQueues)
