"""Faults of the parser of queue names: multicast and multiple-element names (MS-MQMQ 2.1.6, 2.1.7)."""

from __future__ import annotations

import re

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.names import Name, NameParser
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_FORMATNAME


@fault("accepts-any-address-for-multicast", NameParser.multicast_octets, "MQMQ-2.1.6.first-octet-reject")
def accepts_any_address_for_multicast(plain, self, octets):
    """Any IPv4 address is taken for one of a multicast group."""
    return max(octets) <= 255


@fault("accepts-large-octet", NameParser.multicast_octets, "MQMQ-2.1.6.octet-range-reject")
def accepts_large_octet(plain, self, octets):
    """Behind the first, a number of a multicast address may have any three digits."""
    return 224 <= octets[0] <= 239 and max(octets) <= 999


@fault("follows-port-rule-to-the-letter", NameParser.port, "MQMQ-2.1.6.port")
def follows_port_rule_to_the_letter(plain, self, digits):
    """Ports are read by the rule as it is printed, which misses most of those below 10000."""
    as_written = re.fullmatch(r"[0-9]|1[0-9]{1,3}|[0-9]{5}", digits)
    return plain(digits) if as_written else None


@fault("wraps-large-port", NameParser.port, "MQMQ-2.1.6.port-range-reject")
def wraps_large_port(plain, self, digits):
    """A port above 65535 is accepted for its low 16 bits."""
    return int(digits) & 0xFFFF if re.fullmatch("0|[1-9][0-9]{0,9}", digits) else None


@fault("reads-port-as-signed", NameParser.port, "MQMQ-2.1.6.parts")
def reads_port_as_signed(plain, self, digits):
    """A port from 32768 comes out as a negative number."""
    found = plain(digits)
    return found if found is None or found < 0x8000 else found - 0x10000


@fault("skips-empty-elements", NameParser.elements, "MQMQ-2.1.7.empty-element-reject")
def skips_empty_elements(plain, self, text):
    """A comma too many in a multiple-element name is not noticed."""
    return [element for element in plain(text) if element]


@fault("sorts-elements", NameParser.multiple, "MQMQ-2.1.7.parts")
def sorts_elements(plain, self, text):
    """The elements of a multiple-element name come out in another order than they were written in."""
    found = plain(text)
    return Name(text, found.kind, {"elements": sorted(found.parts["elements"])})


@fault(
    "refuses-many-elements", NameParser.elements, "MQMQ-2.1.7.elements", first_seen_as=("MQMQ-2.1.7.mixed",),
    because="the first long list that is tried has elements of several kinds",
)  # fmt: skip
def refuses_many_elements(plain, self, text):
    """A name of more than six elements is refused; the rule has no such limit."""
    found = plain(text)
    if len(found) > 6:
        raise MqError(MQ_ERROR_ILLEGAL_FORMATNAME)
    return found


@fault("accepts-machine-as-element", NameParser.multiple, "MQMQ-2.1.7.machine-reject")
def accepts_machine_as_element(plain, self, text):
    """A machine name may be an element of a multiple-element name."""
    elements = self.elements(text)
    others = [element for element in elements if not element.upper().startswith("MACHINE=")]
    if len(others) == len(elements) or len(elements) < 2:
        return plain(text)
    for element in elements:
        self.format_name(element)
    return Name(text, "multiple_element", {"elements": elements})


@fault("separates-elements-by-semicolon", NameParser.elements, "MQMQ-2.1.7.separator-reject")
def separates_elements_by_semicolon(plain, self, text):
    """A semicolon before a public name separates elements as a comma does."""
    return re.split(r",|;(?=PUBLIC=)", text)
