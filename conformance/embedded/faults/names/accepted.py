"""Faults of the parser of queue names: it accepts invalid names (MS-MQMQ 2.1.1, 2.1.3, 2.1.5, 2.1.6)."""

from __future__ import annotations

import re

from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Name, NameParser

_NIL = "00000000-0000-0000-0000-000000000000"
_LONGEST_DOMAIN = 255


def _without_braces(rest: str) -> str:
    return re.sub(r"\A\{([^{}]*)\}", r"\1", rest)


class _NoComputerParser(NameParser):
    def path(self, text: str) -> Name:
        if not text.startswith("\\"):
            return super().path(text)
        found = super().path(f"x{text}")
        return Name(text, found.kind, found.parts | {"computer": ""})


class AcceptsPathWithoutComputer(Fault):
    """A path name may begin with its backslash."""

    name = "accepts-path-without-computer"
    breaks = ("MQMQ-2.1.1.computer-missing",)
    replaces = ("names", _NoComputerParser)


class _AnyLetterParser(NameParser):
    def path(self, text: str) -> Name:
        computer, backslash, rest = text.partition("\\")
        plain = "".join("x" if letter.isalpha() else letter for letter in computer)
        found = super().path(plain + backslash + rest)
        return Name(text, found.kind, found.parts | {"computer": computer})


class AcceptsAnyLetterInComputerName(Fault):
    """The computer of a path name may be written with the letters of any script."""

    name = "accepts-any-letter-in-computer-name"
    breaks = ("MQMQ-2.1.1.computer-alphabet-reject",)
    replaces = ("names", _AnyLetterParser)


class _NilGuidParser(NameParser):
    def _public(self, text: str, rest: str) -> Name | None:
        return super()._public(text, rest or _NIL)


class AcceptsPublicNameWithoutGuid(Fault):
    """`PUBLIC=` alone is the name of the queue whose GUID is all zeros."""

    name = "accepts-public-name-without-guid"
    breaks = ("MQMQ-2.1.3.guid-missing",)
    replaces = ("names", _NilGuidParser)


class _ListBracesParser(NameParser):
    def _distribution_list(self, text: str, rest: str) -> Name | None:
        return super()._distribution_list(text, _without_braces(rest))


class AcceptsBracesInListName(Fault):
    """The GUID of a distribution list may stand in braces."""

    name = "accepts-braces-in-list-name"
    breaks = ("MQMQ-2.1.5.guid-reject",)
    replaces = ("names", _ListBracesParser)


class _LongDomainParser(NameParser):
    def _distribution_list(self, text: str, rest: str) -> Name | None:
        guid, at, domain = rest.partition("@")
        if len(domain) <= _LONGEST_DOMAIN:
            return super()._distribution_list(text, rest)
        pieces = [domain[start : start + _LONGEST_DOMAIN] for start in range(0, len(domain), _LONGEST_DOMAIN)]
        found = [super(_LongDomainParser, self)._distribution_list(text, guid + at + piece) for piece in pieces]
        if any(each is None for each in found):
            return None
        return Name(text, "distribution_list", {"guid": guid, "domain": domain})


class AcceptsLongDomain(Fault):
    """The limit of 255 characters for a domain is not kept."""

    name = "accepts-long-domain"
    breaks = ("MQMQ-2.1.5.domain-too-long",)
    replaces = ("names", _LongDomainParser)


class _CommaInDomainParser(NameParser):
    def _distribution_list(self, text: str, rest: str) -> Name | None:
        guid, at, domain = rest.partition("@")
        found = super()._distribution_list(text, guid + at + domain.replace(",", "."))
        return Name(text, found.kind, found.parts | {"domain": domain}) if found and at else found


class AcceptsCommaInDomain(Fault):
    """A comma is taken for an ordinary character of the domain of a distribution list that stands alone."""

    name = "accepts-comma-in-domain"
    breaks = ("MQMQ-2.1.5.domain-comma",)
    replaces = ("names", _CommaInDomainParser)


class _MachineBracesParser(NameParser):
    def _machine(self, text: str, rest: str) -> Name | None:
        return super()._machine(text, _without_braces(rest))


class AcceptsBracesInMachineName(Fault):
    """The GUID of a machine name may stand in braces."""

    name = "accepts-braces-in-machine-name"
    breaks = ("MQMQ-2.1.6.machine-guid-reject",)
    replaces = ("names", _MachineBracesParser)


class _NoDashesParser(NameParser):
    def _connector(self, text: str, rest: str) -> Name | None:
        groups = "([0-9A-Fa-f]{8})" + "([0-9A-Fa-f]{4})" * 3 + "([0-9A-Fa-f]{12})(?![0-9A-Fa-f])"
        return super()._connector(text, re.sub(rf"\A{groups}", r"\1-\2-\3-\4-\5", rest))


class AcceptsConnectorGuidWithoutDashes(Fault):
    """The GUID of a connector may be written without its dashes."""

    name = "accepts-connector-guid-without-dashes"
    breaks = ("MQMQ-2.1.6.connector-guid-reject",)
    replaces = ("names", _NoDashesParser)
