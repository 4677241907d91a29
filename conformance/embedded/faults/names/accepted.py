"""Faults of the parser of queue names: it accepts invalid names (MS-MQMQ 2.1.1, 2.1.3, 2.1.5, 2.1.6)."""

from __future__ import annotations

import re

from conformance.embedded.faults.base import fault
from conformance.embedded.names import Name, NameParser

_NIL = "00000000-0000-0000-0000-000000000000"
_LONGEST_DOMAIN = 255


def _without_braces(rest: str) -> str:
    return re.sub(r"\A\{([^{}]*)\}", r"\1", rest)


@fault("accepts-path-without-computer", NameParser.path, "MQMQ-2.1.1.computer-missing")
def accepts_path_without_computer(plain, self, text):
    """A path name may begin with its backslash."""
    if not text.startswith("\\"):
        return plain(text)
    found = plain(f"x{text}")
    return Name(text, found.kind, found.parts | {"computer": ""})


@fault("accepts-any-letter-in-computer-name", NameParser.path, "MQMQ-2.1.1.computer-alphabet-reject")
def accepts_any_letter_in_computer_name(plain, self, text):
    """The computer of a path name may be written with the letters of any script."""
    computer, backslash, rest = text.partition("\\")
    usual = "".join("x" if letter.isalpha() else letter for letter in computer)
    found = plain(usual + backslash + rest)
    return Name(text, found.kind, found.parts | {"computer": computer})


@fault("accepts-public-name-without-guid", NameParser._public, "MQMQ-2.1.3.guid-missing")
def accepts_public_name_without_guid(plain, self, text, rest):
    """`PUBLIC=` alone is the name of the queue whose GUID is all zeros."""
    return plain(text, rest or _NIL)


@fault("accepts-braces-in-list-name", NameParser._distribution_list, "MQMQ-2.1.5.guid-reject")
def accepts_braces_in_list_name(plain, self, text, rest):
    """The GUID of a distribution list may stand in braces."""
    return plain(text, _without_braces(rest))


@fault("accepts-long-domain", "names", "MQMQ-2.1.5.domain-too-long")
class AcceptsLongDomain(NameParser):
    """The limit of 255 characters for a domain is not kept."""

    def _distribution_list(self, text: str, rest: str) -> Name | None:
        guid, at, domain = rest.partition("@")
        if len(domain) <= _LONGEST_DOMAIN:
            return super()._distribution_list(text, rest)
        pieces = [domain[start : start + _LONGEST_DOMAIN] for start in range(0, len(domain), _LONGEST_DOMAIN)]
        found = [super(AcceptsLongDomain, self)._distribution_list(text, guid + at + piece) for piece in pieces]
        if any(each is None for each in found):
            return None
        return Name(text, "distribution_list", {"guid": guid, "domain": domain})


@fault("accepts-comma-in-domain", NameParser._distribution_list, "MQMQ-2.1.5.domain-comma")
def accepts_comma_in_domain(plain, self, text, rest):
    """A comma is taken for an ordinary character of the domain of a distribution list that stands alone."""
    guid, at, domain = rest.partition("@")
    found = plain(text, guid + at + domain.replace(",", "."))
    return Name(text, found.kind, found.parts | {"domain": domain}) if found and at else found


@fault("accepts-braces-in-machine-name", NameParser._machine, "MQMQ-2.1.6.machine-guid-reject")
def accepts_braces_in_machine_name(plain, self, text, rest):
    """The GUID of a machine name may stand in braces."""
    return plain(text, _without_braces(rest))


@fault("accepts-connector-guid-without-dashes", NameParser._connector, "MQMQ-2.1.6.connector-guid-reject")
def accepts_connector_guid_without_dashes(plain, self, text, rest):
    """The GUID of a connector may be written without its dashes."""
    groups = "([0-9A-Fa-f]{8})" + "([0-9A-Fa-f]{4})" * 3 + "([0-9A-Fa-f]{12})(?![0-9A-Fa-f])"
    return plain(text, re.sub(rf"\A{groups}", r"\1-\2-\3-\4-\5", rest))
