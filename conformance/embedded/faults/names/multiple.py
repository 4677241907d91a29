"""Faults of the parser of queue names: multicast and multiple-element names (MS-MQMQ 2.1.6, 2.1.7)."""

from __future__ import annotations

import re

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Name, NameParser
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_FORMATNAME


class _AnyAddressParser(NameParser):
    def multicast_octets(self, octets: list[int]) -> bool:
        return max(octets) <= 255


class AcceptsAnyAddressForMulticast(Fault):
    """Any IPv4 address is taken for one of a multicast group."""

    name = "accepts-any-address-for-multicast"
    breaks = ("MQMQ-2.1.6.first-octet-reject",)
    replaces = ("names", _AnyAddressParser)


class _LargeOctetParser(NameParser):
    def multicast_octets(self, octets: list[int]) -> bool:
        return 224 <= octets[0] <= 239 and max(octets) <= 999


class AcceptsLargeOctet(Fault):
    """Behind the first, a number of a multicast address may have any three digits."""

    name = "accepts-large-octet"
    breaks = ("MQMQ-2.1.6.octet-range-reject",)
    replaces = ("names", _LargeOctetParser)


class _LetterPortParser(NameParser):
    def port(self, digits: str) -> int | None:
        as_written = re.fullmatch(r"[0-9]|1[0-9]{1,3}|[0-9]{5}", digits)
        return super().port(digits) if as_written else None


class FollowsPortRuleToTheLetter(Fault):
    """Ports are read by the rule as it is printed, which misses most of those below 10000."""

    name = "follows-port-rule-to-the-letter"
    breaks = ("MQMQ-2.1.6.port",)
    replaces = ("names", _LetterPortParser)


class _WrappingPortParser(NameParser):
    def port(self, digits: str) -> int | None:
        return int(digits) & 0xFFFF if re.fullmatch("0|[1-9][0-9]{0,9}", digits) else None


class WrapsLargePort(Fault):
    """A port above 65535 is accepted for its low 16 bits."""

    name = "wraps-large-port"
    breaks = ("MQMQ-2.1.6.port-range-reject",)
    replaces = ("names", _WrappingPortParser)


class _SignedPortParser(NameParser):
    def port(self, digits: str) -> int | None:
        found = super().port(digits)
        return found if found is None or found < 0x8000 else found - 0x10000


class ReadsPortAsSigned(Fault):
    """A port from 32768 comes out as a negative number."""

    name = "reads-port-as-signed"
    breaks = ("MQMQ-2.1.6.parts",)
    replaces = ("names", _SignedPortParser)


class _SkippingParser(NameParser):
    def elements(self, text: str) -> list[str]:
        return [element for element in super().elements(text) if element]


class SkipsEmptyElements(Fault):
    """A comma too many in a multiple-element name is not noticed."""

    name = "skips-empty-elements"
    breaks = ("MQMQ-2.1.7.empty-element-reject",)
    replaces = ("names", _SkippingParser)


class _SortingParser(NameParser):
    def multiple(self, text: str) -> Name:
        found = super().multiple(text)
        return Name(text, found.kind, {"elements": sorted(found.parts["elements"])})


class SortsElements(Fault):
    """The elements of a multiple-element name come out in another order than they were written in."""

    name = "sorts-elements"
    breaks = ("MQMQ-2.1.7.parts",)
    replaces = ("names", _SortingParser)


class _FewElementsParser(NameParser):
    def elements(self, text: str) -> list[str]:
        found = super().elements(text)
        if len(found) > 6:
            raise MqError(MQ_ERROR_ILLEGAL_FORMATNAME)
        return found


class RefusesManyElements(Fault):
    """A name of more than six elements is refused; the rule has no such limit."""

    name = "refuses-many-elements"
    breaks = ("MQMQ-2.1.7.elements",)
    first_seen_as = ("MQMQ-2.1.7.mixed",)
    because = "the first long list that is tried has elements of several kinds"
    replaces = ("names", _FewElementsParser)


class _MachineElementParser(NameParser):
    def multiple(self, text: str) -> Name:
        elements = self.elements(text)
        others = [element for element in elements if not element.upper().startswith("MACHINE=")]
        if len(others) == len(elements) or len(elements) < 2:
            return super().multiple(text)
        for element in elements:
            self.format_name(element)
        return Name(text, "multiple_element", {"elements": elements})


class AcceptsMachineAsElement(Fault):
    """A machine name may be an element of a multiple-element name."""

    name = "accepts-machine-as-element"
    breaks = ("MQMQ-2.1.7.machine-reject",)
    replaces = ("names", _MachineElementParser)


class _SemicolonParser(NameParser):
    def elements(self, text: str) -> list[str]:
        return re.split(r",|;(?=PUBLIC=)", text)


class SeparatesElementsBySemicolon(Fault):
    """A semicolon before a public name separates elements as a comma does."""

    name = "separates-elements-by-semicolon"
    breaks = ("MQMQ-2.1.7.separator-reject",)
    replaces = ("names", _SemicolonParser)
