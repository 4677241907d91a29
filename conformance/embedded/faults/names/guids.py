"""Faults of the parser of queue names: names that have a GUID (MS-MQMQ 2.1.3 to 2.1.6)."""

from __future__ import annotations

import re

from conformance.embedded.faults.base import also, fault
from conformance.embedded.names import Name, NameParser

_GUID_CHARACTERS = 36


@fault("accepts-braces-around-guid", NameParser._public, "MQMQ-2.1.3.guid-reject")
def accepts_braces_around_guid(plain, self, text, rest):
    """The GUID of a public name may stand in braces, as the registry writes it."""
    return plain(text, re.sub(r"\A\{([^{}]*)\}", r"\1", rest))


@fault("ignores-text-behind-public-guid", NameParser._public, "MQMQ-2.1.3.trailing-reject", "MQMQ-2.1.3.guid-reject")
def ignores_text_behind_public_guid(plain, self, text, rest):
    """What stands behind the GUID of a public name is not looked at."""
    return plain(text, rest) or plain(text, rest[:_GUID_CHARACTERS])


@fault("swaps-bytes-of-public-guid", NameParser._public, "MQMQ-2.1.3.parts")
def swaps_bytes_of_public_guid(plain, self, text, rest):
    """The first group of a public name's GUID comes out with its bytes in the other order."""
    found = plain(text, rest)
    if found is None:
        return None
    first, dash, others = str(found.parts["guid"]).partition("-")
    swapped = "".join(first[at : at + 2] for at in (6, 4, 2, 0))
    return Name(text, found.kind, found.parts | {"guid": swapped + dash + others})


@fault("accepts-long-private-number", NameParser.private_digits, "MQMQ-2.1.4.number-too-long")
def accepts_long_private_number(plain, self, digits):
    """The number of a private name may have more than 8 digits; what does not fit is lost."""
    return bool(re.fullmatch("[0-9A-Fa-f]{1,20}", digits))


@also("accepts-long-private-number", NameParser.private_number)
def accepts_long_private_number_private_number(plain, self, digits):
    return plain(digits) & 0xFFFFFFFF


@fault("accepts-any-digit-in-private-number", NameParser.private_digits, "MQMQ-2.1.4.number-reject")
def accepts_any_digit_in_private_number(plain, self, digits):
    """The number of a private name may be written with the digits of any script."""
    return bool(re.fullmatch(r"[\dA-Fa-f]{1,8}", digits))


@fault("forgets-journal-of-private-name", NameParser._private, "MQMQ-2.1.4.journal")
def forgets_journal_of_private_name(plain, self, text, rest):
    """`;JOURNAL` behind a private name is read and forgotten: the name is that of the queue itself."""
    found = plain(text, rest)
    if found is None:
        return None
    return Name(text, found.kind, {name: part for name, part in found.parts.items() if name != "suffix"})


@fault("accepts-empty-domain", NameParser._distribution_list, "MQMQ-2.1.5.domain-missing")
def accepts_empty_domain(plain, self, text, rest):
    """A distribution list may have an @ and no domain behind it."""
    return plain(text, rest.removesuffix("@"))


@fault("folds-case-of-domain", NameParser._distribution_list, "MQMQ-2.1.5.parts")
def folds_case_of_domain(plain, self, text, rest):
    """The domain of a distribution list comes out in lower case."""
    found = plain(text, rest)
    if found is None or "domain" not in found.parts:
        return found
    return Name(text, found.kind, found.parts | {"domain": str(found.parts["domain"]).lower()})


@fault("accepts-bare-machine-name", NameParser._machine, "MQMQ-2.1.6.machine", "MQMQ-2.2.7.suffix-none-type")
def accepts_bare_machine_name(plain, self, text, rest):
    """A machine name need not say which queue of the computer it means."""
    bare = plain(text, f"{rest};JOURNAL")
    return Name(text, bare.kind, {"guid": bare.parts["guid"]}) if bare else plain(text, rest)


@fault("refuses-transactional-dead-letter-queue", NameParser._machine, "MQMQ-2.1.6.machine-suffix")
def refuses_transactional_dead_letter_queue(plain, self, text, rest):
    """Of the queues of a computer the transactional dead-letter queue is not known by a machine name."""
    found = plain(text, rest)
    return None if found and found.suffix == "deadxact" else found


@fault(
    "accepts-journal-of-connector", NameParser._connector, "MQMQ-2.2.7.suffix-journal-type",
    "MQMQ-2.1.6.connector-suffix", "MQMP-3.1.4.17.malformed-format-name",
)  # fmt: skip
def accepts_journal_of_connector(plain, self, text, rest):
    """A connector queue has a journal."""
    return plain(text, re.sub(r";JOURNAL\Z", "", rest))
