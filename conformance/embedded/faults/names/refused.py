"""Faults of the parser of queue names: it refuses valid names (MS-MQMQ 2.1)."""

from __future__ import annotations

import re

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Json, Name, NameParser
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_FORMATNAME, MQ_ERROR_ILLEGAL_QUEUE_PATHNAME


class _ShortKeywordParser(NameParser):
    def _queue(self, text: str, parts: dict[str, Json]) -> bool:
        return text.partition(";")[0].lower() not in ("private", "system") and super()._queue(text, parts)


class ReservesWordsWithoutDollar(Fault):
    """No queue may be called `private` or `system`, though the keywords end in a dollar sign."""

    name = "reserves-words-without-dollar"
    breaks = (
        "MQMQ-2.1.1.public-path",
        "MQMQ-2.1.1.queue-name-alphabet",
        "MQMQ-2.1.2.public-queue",
    )
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
    breaks = ("MQMQ-2.1.1.private-path",)
    replaces = ("names", _NoDomainPrivateParser)


class _TerminatedComputerParser(NameParser):
    def longest_computer_name(self) -> int:
        return super().longest_computer_name() - 1


class RefusesLongestComputerName(Fault):
    """A computer's name may have 255 characters: the 256th is kept for a terminator."""

    name = "refuses-longest-computer-name"
    breaks = ("MQMQ-2.1.1.computer-length",)
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
    breaks = ("MQMQ-2.1.1.computer-alphabet",)
    replaces = ("names", _HostCharactersParser)


class _TerminatedQueueParser(NameParser):
    def queue_name_lengths(self) -> tuple[int, int]:
        least, most = super().queue_name_lengths()
        return least, most - 1


class RefusesLongestQueueName(Fault):
    """A queue's name may have 123 characters: the 124th is kept for a terminator."""

    name = "refuses-longest-queue-name"
    breaks = ("MQMQ-2.1.1.queue-name-length",)
    replaces = ("names", _TerminatedQueueParser)


class _PrivateOnlyOverTcpParser(NameParser):
    def _direct(self, text: str, rest: str) -> Name | None:
        found = super()._direct(text, rest)
        lost = found is not None and found.parts["protocol"] == "TCP" and found.parts["scope"] == "public"
        return None if lost else found


class RefusesPublicQueueOverTcp(Fault):
    """A public queue cannot be named by the address of its computer."""

    name = "refuses-public-queue-over-tcp"
    breaks = (
        "MQMQ-2.1.2.public-queue",
        "MQMQ-2.1.2.tcp",
    )
    replaces = ("names", _PrivateOnlyOverTcpParser)


class _HostAddressParser(NameParser):
    def _address(self, protocol: str, address: str) -> bool:
        return super()._address(protocol, address) and address not in ("0.0.0.0", "255.255.255.255")


class RefusesSpecialAddresses(Fault):
    """TCP takes addresses of one computer alone: not the one of all, nor the one of none."""

    name = "refuses-special-addresses"
    breaks = ("MQMQ-2.1.2.tcp",)
    replaces = ("names", _HostAddressParser)


class _NetBiosParser(NameParser):
    def _address(self, protocol: str, address: str) -> bool:
        return super()._address(protocol, address) and (protocol != "OS" or len(address) <= 15)


class RefusesLongComputerOverOs(Fault):
    """OS takes names of 15 characters at most, as NetBIOS had them."""

    name = "refuses-long-computer-over-os"
    breaks = (
        "MQMQ-2.1.2.os",
        "MQMQ-2.1.2.private-queue",
    )
    replaces = ("names", _NetBiosParser)


class _NoDashParser(NameParser):
    def _address(self, protocol: str, address: str) -> bool:
        return super()._address(protocol, address) and (protocol != "OS" or "-" not in address)


class RefusesDashInComputerOverOs(Fault):
    """OS takes names of letters, digits, dots and underscores, though computers have dashes in their names."""

    name = "refuses-dash-in-computer-over-os"
    breaks = ("MQMQ-2.1.2.os",)
    replaces = ("names", _NoDashParser)


class _VariantParser(NameParser):
    def _public(self, text: str, rest: str) -> Name | None:
        found = super()._public(text, rest)
        return found if found is not None and str(found.parts["guid"])[19] in "89ABab" else None


class RefusesGuidOfOtherVariant(Fault):
    """The GUID of a public name must have the variant of RFC 4122; the rule takes any digits."""

    name = "refuses-guid-of-other-variant"
    breaks = ("MQMQ-2.1.3.public",)
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
    breaks = ("MQMQ-2.1.3.hex-case",)
    replaces = ("names", _UpperCasePublicParser)


class _NoPublicJournalParser(NameParser):
    def _public(self, text: str, rest: str) -> Name | None:
        found = super()._public(text, rest)
        return None if found is None or found.suffix else found


class RefusesJournalOfPublicName(Fault):
    """A public name cannot name the journal of its queue, as the binary form can."""

    name = "refuses-journal-of-public-name"
    breaks = ("MQMQ-2.1.3.journal",)
    replaces = ("names", _NoPublicJournalParser)


class _SignedNumberParser(NameParser):
    def private_digits(self, digits: str) -> bool:
        return super().private_digits(digits) and int(digits, 16) < 0x80000000


class RefusesLargePrivateNumber(Fault):
    """The number of a private name is read as signed, and refused when it is negative."""

    name = "refuses-large-private-number"
    breaks = ("MQMQ-2.1.4.private",)
    replaces = ("names", _SignedNumberParser)


class _UpperCaseSuffixParser(NameParser):
    def _private(self, text: str, rest: str) -> Name | None:
        suffix = rest.partition(";")[2]
        return None if suffix.upper() == "JOURNAL" != suffix else super()._private(text, rest)


class RefusesLowerCaseJournalOfPrivateName(Fault):
    """`;JOURNAL` behind a private name is recognised in upper case only."""

    name = "refuses-lower-case-journal-of-private-name"
    breaks = ("MQMQ-2.1.4.case",)
    replaces = ("names", _UpperCaseSuffixParser)


class _DomainRequiredParser(NameParser):
    def _distribution_list(self, text: str, rest: str) -> Name | None:
        found = super()._distribution_list(text, rest)
        return found if found is not None and "domain" in found.parts else None


class RefusesListWithoutDomain(Fault):
    """A distribution list has to say its domain."""

    name = "refuses-list-without-domain"
    breaks = ("MQMQ-2.1.5.list",)
    replaces = ("names", _DomainRequiredParser)


class _DottedDomainParser(NameParser):
    def _distribution_list(self, text: str, rest: str) -> Name | None:
        found = super()._distribution_list(text, rest)
        return None if found is None or "." not in str(found.parts.get("domain", ".")) else found


class RefusesDomainWithoutDot(Fault):
    """The domain of a distribution list has to consist of two labels at least."""

    name = "refuses-domain-without-dot"
    breaks = ("MQMQ-2.1.5.domain",)
    replaces = ("names", _DottedDomainParser)


class _TransactionalConnectorParser(NameParser):
    def _connector(self, text: str, rest: str) -> Name | None:
        return super()._connector(text, rest) if ";" in rest else None


class RefusesPlainConnector(Fault):
    """Only the transactional queue of a connector has a name."""

    name = "refuses-plain-connector"
    breaks = ("MQMQ-2.1.6.connector",)
    replaces = ("names", _TransactionalConnectorParser)


class _GlobalMulticastParser(NameParser):
    def multicast_octets(self, octets: list[int]) -> bool:
        return super().multicast_octets(octets) and octets[0] != 239


class RefusesLocalMulticastAddress(Fault):
    """Multicast addresses of an organisation's own, which begin with 239, are refused."""

    name = "refuses-local-multicast-address"
    breaks = ("MQMQ-2.1.6.multicast",)
    replaces = ("names", _GlobalMulticastParser)
