"""Faults of the parser of queue names: valid names are refused (MS-MQMQ 2.1)."""

from __future__ import annotations

import re

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Json, Name, NameParser
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_FORMATNAME, MQ_ERROR_ILLEGAL_QUEUE_PATHNAME

# Names of one kind stand in multiple-element names too.
AS_ELEMENT = ("MQMQ-2.1.7.elements", "MQMQ-2.1.7.mixed", "MQMQ-2.1.7.parts")
# What every direct name has, an address in it or a queue: refused there, it is refused in all of these.
DIRECT_NAMES = (
    "MQMQ-2.1.2.public-queue",
    "MQMQ-2.1.2.private-queue",
    "MQMQ-2.1.2.journal",
    "MQMQ-2.1.2.keyword-case",
    "MQMQ-2.1.2.subqueue",
    *AS_ELEMENT,
)


class _ShortKeywordParser(NameParser):
    def _queue(self, text: str, parts: dict[str, Json]) -> bool:
        return text.partition(";")[0].lower() not in ("private", "system") and super()._queue(text, parts)


class ReservesWordsWithoutDollar(Fault):
    """No queue may be called `private` or `system`, though the keywords end in a dollar sign."""

    name = "reserves-words-without-dollar"
    suite = "names"
    breaks = ("MQMQ-2.1.1.public-path", "MQMQ-2.1.1.private-path", "MQMQ-2.1.1.subqueue", *DIRECT_NAMES)
    replaces = ("names", _ShortKeywordParser)


class _NoDomainPrivateParser(NameParser):
    def path(self, text: str) -> Name:
        found = super().path(text)
        if found.parts["scope"] == "private" and "." in str(found.parts["computer"]):
            raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
        return found


class RefusesPrivateQueueOfFullComputerName(Fault):
    """The path of a private queue cannot begin with the full name of its computer, domain included."""

    name = "refuses-private-queue-of-full-computer-name"
    suite = "names"
    breaks = ("MQMQ-2.1.1.private-path", "MQMQ-2.1.1.keyword-case", "MQMQ-2.1.1.subqueue")
    replaces = ("names", _NoDomainPrivateParser)


class _TerminatedComputerParser(NameParser):
    def longest_computer_name(self) -> int:
        return super().longest_computer_name() - 1


class RefusesLongestComputerName(Fault):
    """A computer's name may have 255 characters: the 256th is kept for a terminator."""

    name = "refuses-longest-computer-name"
    suite = "names"
    breaks = ("MQMQ-2.1.1.computer-length", "MQMQ-2.1.2.os")
    replaces = ("names", _TerminatedComputerParser)


class _HostCharactersParser(NameParser):
    def path(self, text: str) -> Name:
        found = super().path(text)
        if re.search(r"[^0-9A-Za-z._-]", str(found.parts["computer"])):
            raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
        return found


class RefusesSymbolsInComputerName(Fault):
    """The computer of a path name consists of letters, digits, dots, dashes and underscores alone."""

    name = "refuses-symbols-in-computer-name"
    suite = "names"
    breaks = ("MQMQ-2.1.1.computer-alphabet",)
    replaces = ("names", _HostCharactersParser)


class _TerminatedQueueParser(NameParser):
    def queue_name_lengths(self) -> tuple[int, int]:
        least, most = super().queue_name_lengths()
        return least, most - 1


class RefusesLongestQueueName(Fault):
    """A queue's name may have 123 characters: the 124th is kept for a terminator."""

    name = "refuses-longest-queue-name"
    suite = "names"
    breaks = ("MQMQ-2.1.1.queue-name-length", "MQMQ-2.1.1.subqueue", *DIRECT_NAMES)
    replaces = ("names", _TerminatedQueueParser)


class _PrivateOnlyOverTcpParser(NameParser):
    def _direct(self, text: str, rest: str) -> Name | None:
        found = super()._direct(text, rest)
        lost = found is not None and found.parts["protocol"] == "TCP" and found.parts["scope"] == "public"
        return None if lost else found


class RefusesPublicQueueOverTcp(Fault):
    """A public queue cannot be named by the address of its computer."""

    name = "refuses-public-queue-over-tcp"
    suite = "names"
    breaks = (
        "MQMQ-2.1.2.public-queue",
        "MQMQ-2.1.2.tcp",
        "MQMQ-2.1.2.tcp-ipv6",
        "MQMQ-2.1.2.journal",
        "MQMQ-2.1.2.keyword-case",
        "MQMQ-2.1.2.subqueue",
        *AS_ELEMENT,
    )
    replaces = ("names", _PrivateOnlyOverTcpParser)


class _HostAddressParser(NameParser):
    def _address(self, protocol: str, address: str) -> bool:
        return super()._address(protocol, address) and address not in ("0.0.0.0", "255.255.255.255")


class RefusesSpecialAddresses(Fault):
    """TCP takes addresses of one computer alone: not the one of all, nor the one of none."""

    name = "refuses-special-addresses"
    suite = "names"
    breaks = ("MQMQ-2.1.2.tcp", "MQMQ-2.1.2.machine-queue", *DIRECT_NAMES)
    replaces = ("names", _HostAddressParser)


class _NetBiosParser(NameParser):
    def _address(self, protocol: str, address: str) -> bool:
        return super()._address(protocol, address) and (protocol != "OS" or len(address) <= 15)


class RefusesLongComputerOverOs(Fault):
    """OS takes names of 15 characters at most, as NetBIOS had them."""

    name = "refuses-long-computer-over-os"
    suite = "names"
    breaks = ("MQMQ-2.1.2.os", "MQMQ-2.1.2.machine-queue", *DIRECT_NAMES)
    replaces = ("names", _NetBiosParser)


class _NoDashParser(NameParser):
    def _address(self, protocol: str, address: str) -> bool:
        return super()._address(protocol, address) and (protocol != "OS" or "-" not in address)


class RefusesDashInComputerOverOs(Fault):
    """OS takes names of letters, digits, dots and underscores, though computers have dashes in their names."""

    name = "refuses-dash-in-computer-over-os"
    suite = "names"
    breaks = ("MQMQ-2.1.2.os", "MQMQ-2.1.2.machine-queue", *DIRECT_NAMES)
    replaces = ("names", _NoDashParser)


class _VariantParser(NameParser):
    def _public(self, text: str, rest: str) -> Name | None:
        found = super()._public(text, rest)
        return found if found is not None and str(found.parts["guid"])[19] in "89ABab" else None


class RefusesGuidOfOtherVariant(Fault):
    """The GUID of a public name must have the variant of RFC 4122; the rule takes any digits."""

    name = "refuses-guid-of-other-variant"
    suite = "names"
    breaks = (
        "MQMQ-2.1.3.public",
        "MQMQ-2.1.3.hex-case",
        "MQMQ-2.1.3.journal",
        "MQMQ-2.1.7.single",
        *AS_ELEMENT,
    )
    replaces = ("names", _VariantParser)


class _UpperCasePublicParser(NameParser):
    def format_name(self, text: str) -> Name:
        keyword = text.partition("=")[0]
        if keyword.upper() == "PUBLIC" != keyword:
            raise MqError(MQ_ERROR_ILLEGAL_FORMATNAME)
        return super().format_name(text)


class RefusesLowerCasePublic(Fault):
    """`PUBLIC` is recognised in upper case only; literals of a grammar have no case (RFC 5234)."""

    name = "refuses-lower-case-public"
    suite = "names"
    breaks = ("MQMQ-2.1.3.hex-case", *AS_ELEMENT)
    replaces = ("names", _UpperCasePublicParser)


class _NoPublicJournalParser(NameParser):
    def _public(self, text: str, rest: str) -> Name | None:
        found = super()._public(text, rest)
        return None if found is None or found.suffix else found


class RefusesJournalOfPublicName(Fault):
    """A public name cannot name the journal of its queue, as the binary form can."""

    name = "refuses-journal-of-public-name"
    suite = "names"
    breaks = ("MQMQ-2.1.3.journal",)
    replaces = ("names", _NoPublicJournalParser)


class _SignedNumberParser(NameParser):
    def private_digits(self, digits: str) -> bool:
        return super().private_digits(digits) and int(digits, 16) < 0x80000000


class RefusesLargePrivateNumber(Fault):
    """The number of a private name is read as signed, and refused when it is negative."""

    name = "refuses-large-private-number"
    suite = "names"
    breaks = ("MQMQ-2.1.4.private", "MQMQ-2.1.4.journal", "MQMQ-2.1.4.case", *AS_ELEMENT)
    replaces = ("names", _SignedNumberParser)


class _UpperCaseSuffixParser(NameParser):
    def _private(self, text: str, rest: str) -> Name | None:
        suffix = rest.partition(";")[2]
        return None if suffix.upper() == "JOURNAL" != suffix else super()._private(text, rest)


class RefusesLowerCaseJournalOfPrivateName(Fault):
    """`;JOURNAL` behind a private name is recognised in upper case only."""

    name = "refuses-lower-case-journal-of-private-name"
    suite = "names"
    breaks = ("MQMQ-2.1.4.case", "MQMQ-2.1.4.journal")
    replaces = ("names", _UpperCaseSuffixParser)


class _DomainRequiredParser(NameParser):
    def _distribution_list(self, text: str, rest: str) -> Name | None:
        found = super()._distribution_list(text, rest)
        return found if found is not None and "domain" in found.parts else None


class RefusesListWithoutDomain(Fault):
    """A distribution list has to say its domain."""

    name = "refuses-list-without-domain"
    suite = "names"
    breaks = ("MQMQ-2.1.5.list", *AS_ELEMENT)
    replaces = ("names", _DomainRequiredParser)


class _DottedDomainParser(NameParser):
    def _distribution_list(self, text: str, rest: str) -> Name | None:
        found = super()._distribution_list(text, rest)
        return None if found is None or "." not in str(found.parts.get("domain", ".")) else found


class RefusesDomainWithoutDot(Fault):
    """The domain of a distribution list has to consist of two labels at least."""

    name = "refuses-domain-without-dot"
    suite = "names"
    breaks = ("MQMQ-2.1.5.domain", *AS_ELEMENT)
    replaces = ("names", _DottedDomainParser)


class _TransactionalConnectorParser(NameParser):
    def _connector(self, text: str, rest: str) -> Name | None:
        return super()._connector(text, rest) if ";" in rest else None


class RefusesPlainConnector(Fault):
    """Only the transactional queue of a connector has a name."""

    name = "refuses-plain-connector"
    suite = "names"
    breaks = ("MQMQ-2.1.6.connector", *AS_ELEMENT)
    replaces = ("names", _TransactionalConnectorParser)


class _GlobalMulticastParser(NameParser):
    def multicast_octets(self, octets: list[int]) -> bool:
        return super().multicast_octets(octets) and octets[0] != 239


class RefusesLocalMulticastAddress(Fault):
    """Multicast addresses of an organisation's own, which begin with 239, are refused."""

    name = "refuses-local-multicast-address"
    suite = "names"
    breaks = ("MQMQ-2.1.6.multicast", *AS_ELEMENT)
    replaces = ("names", _GlobalMulticastParser)


REFUSED_FAULTS: tuple[type[Fault], ...] = (
    ReservesWordsWithoutDollar,
    RefusesPrivateQueueOfFullComputerName,
    RefusesLongestComputerName,
    RefusesSymbolsInComputerName,
    RefusesLongestQueueName,
    RefusesPublicQueueOverTcp,
    RefusesSpecialAddresses,
    RefusesLongComputerOverOs,
    RefusesDashInComputerOverOs,
    RefusesGuidOfOtherVariant,
    RefusesLowerCasePublic,
    RefusesJournalOfPublicName,
    RefusesLargePrivateNumber,
    RefusesLowerCaseJournalOfPrivateName,
    RefusesListWithoutDomain,
    RefusesDomainWithoutDot,
    RefusesPlainConnector,
    RefusesLocalMulticastAddress,
)
