"""Faults of a parser that refuses valid names (MS-MQMQ 2.1)."""

from __future__ import annotations

import re

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.names import NameParser
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_FORMATNAME, MQ_ERROR_ILLEGAL_QUEUE_PATHNAME


@fault(
    "reserves-words-without-dollar", NameParser._queue, "MQMQ-2.1.1.public-path", "MQMQ-2.1.1.queue-name-alphabet",
    "MQMQ-2.1.2.public-queue",
)  # fmt: skip
def reserves_words_without_dollar(plain, self, text, parts):
    """No queue may be called `private` or `system`, though the keywords end in a dollar sign."""
    return text.partition(";")[0].lower() not in ("private", "system") and plain(text, parts)


@fault("refuses-private-queue-of-full-computer-name", NameParser.path, "MQMQ-2.1.1.private-path")
def refuses_private_queue_of_full_computer_name(plain, self, text):
    """The path of a private queue cannot begin with the full name of its computer, domain included."""
    found = plain(text)
    if found.parts["scope"] == "private" and "." in str(found.parts["computer"]):
        raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
    return found


@fault("refuses-longest-computer-name", NameParser.longest_computer_name, "MQMQ-2.1.1.computer-length")
def refuses_longest_computer_name(plain, self):
    """A computer's name may have 255 characters: the 256th is kept for a terminator."""
    return plain() - 1


@fault("refuses-symbols-in-computer-name", NameParser.path, "MQMQ-2.1.1.computer-alphabet")
def refuses_symbols_in_computer_name(plain, self, text):
    """The computer of a path name consists of letters, digits, dots, dashes and underscores alone."""
    found = plain(text)
    if re.search(r"[^0-9A-Za-z._-]", str(found.parts["computer"])):
        raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
    return found


@fault("refuses-longest-queue-name", NameParser.queue_name_lengths, "MQMQ-2.1.1.queue-name-length")
def refuses_longest_queue_name(plain, self):
    """A queue's name may have 123 characters: the 124th is kept for a terminator."""
    least, most = plain()
    return least, most - 1


@fault("refuses-public-queue-over-tcp", NameParser._direct, "MQMQ-2.1.2.public-queue", "MQMQ-2.1.2.tcp")
def refuses_public_queue_over_tcp(plain, self, text, rest):
    """A public queue cannot be named by the address of its computer."""
    found = plain(text, rest)
    lost = found is not None and found.parts["protocol"] == "TCP" and found.parts["scope"] == "public"
    return None if lost else found


@fault("refuses-special-addresses", NameParser._address, "MQMQ-2.1.2.tcp")
def refuses_special_addresses(plain, self, protocol, address):
    """TCP takes addresses of one computer alone: not the one of all, nor the one of none."""
    return plain(protocol, address) and address not in ("0.0.0.0", "255.255.255.255")


@fault("refuses-long-computer-over-os", NameParser._address, "MQMQ-2.1.2.os", "MQMQ-2.1.2.private-queue")
def refuses_long_computer_over_os(plain, self, protocol, address):
    """OS takes names of 15 characters at most, as NetBIOS had them."""
    return plain(protocol, address) and (protocol != "OS" or len(address) <= 15)


@fault("refuses-dash-in-computer-over-os", NameParser._address, "MQMQ-2.1.2.os")
def refuses_dash_in_computer_over_os(plain, self, protocol, address):
    """OS takes names of letters, digits, dots and underscores, though computers have dashes in their names."""
    return plain(protocol, address) and (protocol != "OS" or "-" not in address)


@fault("refuses-guid-of-other-variant", NameParser._public, "MQMQ-2.1.3.public")
def refuses_guid_of_other_variant(plain, self, text, rest):
    """The GUID of a public name must have the variant of RFC 4122; the rule takes any digits."""
    found = plain(text, rest)
    return found if found is not None and str(found.parts["guid"])[19] in "89ABab" else None


@fault("refuses-lower-case-public", NameParser.format_name, "MQMQ-2.1.3.hex-case")
def refuses_lower_case_public(plain, self, text):
    """`PUBLIC` is recognised in upper case only; literals of a grammar have no case (RFC 5234)."""
    keyword = text.partition("=")[0]
    if keyword.upper() == "PUBLIC" != keyword:
        raise MqError(MQ_ERROR_ILLEGAL_FORMATNAME)
    return plain(text)


@fault("refuses-journal-of-public-name", NameParser._public, "MQMQ-2.1.3.journal")
def refuses_journal_of_public_name(plain, self, text, rest):
    """A public name cannot name the journal of its queue, as the binary form can."""
    found = plain(text, rest)
    return None if found is None or found.suffix else found


@fault("refuses-large-private-number", NameParser.private_digits, "MQMQ-2.1.4.private")
def refuses_large_private_number(plain, self, digits):
    """The number of a private name is read as signed, and refused when it is negative."""
    return plain(digits) and int(digits, 16) < 0x80000000


@fault("refuses-lower-case-journal-of-private-name", NameParser._private, "MQMQ-2.1.4.case")
def refuses_lower_case_journal_of_private_name(plain, self, text, rest):
    """`;JOURNAL` behind a private name is recognised in upper case only."""
    suffix = rest.partition(";")[2]
    return None if suffix.upper() == "JOURNAL" != suffix else plain(text, rest)


@fault("refuses-list-without-domain", NameParser._distribution_list, "MQMQ-2.1.5.list")
def refuses_list_without_domain(plain, self, text, rest):
    """A distribution list has to say its domain."""
    found = plain(text, rest)
    return found if found is not None and "domain" in found.parts else None


@fault("refuses-domain-without-dot", NameParser._distribution_list, "MQMQ-2.1.5.domain")
def refuses_domain_without_dot(plain, self, text, rest):
    """The domain of a distribution list has to consist of two labels at least."""
    found = plain(text, rest)
    return None if found is None or "." not in str(found.parts.get("domain", ".")) else found


@fault("refuses-plain-connector", NameParser._connector, "MQMQ-2.1.6.connector")
def refuses_plain_connector(plain, self, text, rest):
    """Only the transactional queue of a connector has a name."""
    return plain(text, rest) if ";" in rest else None


@fault("refuses-local-multicast-address", NameParser.multicast_octets, "MQMQ-2.1.6.multicast")
def refuses_local_multicast_address(plain, self, octets):
    """Multicast addresses of an organisation's own, which begin with 239, are refused."""
    return plain(octets) and octets[0] != 239


@fault("refuses-longer-subqueue-names", NameParser.longest_subqueue_name, "MQMQ-2.1.1.subqueue-length")
def refuses_longer_subqueue_names(plain, self):
    """A subqueue's name may have 30 characters at most."""
    return 30


@fault("refuses-transactional-system-path", NameParser.path, "MQMQ-2.1.1.system-path")
def refuses_transactional_system_path(plain, self, text):
    """Of the system queues the transactional dead-letter queue has no path name."""
    found = plain(text)
    if found.parts["scope"] == "system" and str(found.parts["queue"]).lower() == "deadxact":
        raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
    return found


@fault("refuses-direct-transactional-dead-letter", NameParser._direct, "MQMQ-2.1.2.machine-queue")
def refuses_direct_transactional_dead_letter(plain, self, text, rest):
    """Of the queues of a computer the transactional dead-letter queue has no direct name."""
    found = plain(text, rest)
    return None if found is not None and found.suffix == "deadxact" else found


@fault("refuses-lower-case-protocol", NameParser._direct, "MQMQ-2.1.2.keyword-case")
def refuses_lower_case_protocol(plain, self, text, rest):
    """The protocol of a direct name is recognised in upper case only."""
    protocol = rest.partition(":")[0]
    return plain(text, rest) if protocol == protocol.upper() else None


@fault("refuses-backslash-of-https", NameParser._direct_http, "MQMQ-2.1.2.http-separator", "MQMQ-2.1.2.https")
def refuses_backslash_of_https(plain, self, text, rest, parts):
    """Behind `/MSMQ` there may be a backslash in an HTTP name, in an HTTPS name a slash alone."""
    refused = parts["protocol"] == "HTTPS" and "\\" in rest
    return None if refused else plain(text, rest, parts)


@fault("refuses-subqueue-of-private-queue", NameParser._finish_direct, "MQMQ-2.1.2.subqueue")
def refuses_subqueue_of_private_queue(plain, self, text, rest, parts):
    """Only public queues have subqueues that a direct name can name."""
    found = plain(text, rest, parts)
    lost = found is not None and found.parts["scope"] == "private" and "subqueue" in found.parts
    return None if lost else found


@fault("refuses-journal-of-private-name", NameParser._private, "MQMQ-2.1.4.journal")
def refuses_journal_of_private_name(plain, self, text, rest):
    """A private name cannot name the journal of its queue."""
    found = plain(text, rest)
    return None if found is None or found.suffix else found


@fault("refuses-second-private-element", NameParser.multiple, "MQMQ-2.1.7.elements", "MQMQ-2.1.7.mixed")
def refuses_second_private_element(plain, self, text):
    """Of the elements of a multiple-element name only one can be a private name."""
    found = plain(text)
    if sum(element.upper().startswith("PRIVATE=") for element in found.parts["elements"]) > 1:
        raise MqError(MQ_ERROR_ILLEGAL_FORMATNAME)
    return found


_LATER = "msmq-4.0"  # the first version that has subqueues


@fault(
    "keeps-alphabet-of-version-2", NameParser.name_characters, "MQMQ-2.1.1.queue-name-plus-comma-quote",
    profile="msmq-1.0",
)  # fmt: skip
def keeps_alphabet_of_version_2(plain, self):
    """MSMQ 1.0 refuses the plus sign, the comma and the double quote, as the versions after it do."""
    return NameParser(_LATER).name_characters()


@fault("tells-subqueue-before-its-time", NameParser.parse, "MQMQ-2.1.1.queue-name-semicolon-reject", profile="msmq-3.0")
def tells_subqueue_before_its_time(plain, self, text, form):
    """A path name with a semicolon is taken apart into a queue and a subqueue in MSMQ 3.0; creating it fails."""
    later = form == "path_name" and "\\system$;" not in text.lower()
    return NameParser(_LATER).path(text) if later else plain(text, form)


@fault(
    "tells-direct-subqueue-before-its-time", NameParser.parse, "MQMQ-2.1.2.suffix-reject",
    "MQMQ-2.1.2.queue-name-reject", profile="msmq-3.0",
)  # fmt: skip
def tells_direct_subqueue_before_its_time(plain, self, text, form):
    """A direct name with a subqueue is taken apart in MSMQ 3.0; opening it fails."""
    later = form == "format_name" and text.upper().startswith("DIRECT=")
    return NameParser(_LATER).format_name(text) if later else plain(text, form)


@fault(
    "refuses-long-system-queue", NameParser.path, "MQMQ-2.1.1.system-queue-unknown", "MQMQ-2.1.1.system-path",
    profile="msmq-3.0",
)  # fmt: skip
def refuses_long_system_queue(plain, self, text):
    """Behind `system$;` any name is a system queue's that is no longer than the longest of the known ones."""
    found = plain(text)
    if found.parts["scope"] == "system" and len(str(found.parts["queue"])) > len("deadletter"):
        raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
    return found


@fault(
    "refuses-system-queue-with-digits", NameParser.path, "MQMQ-2.1.1.system-queue-unknown", "MQMQ-2.1.1.system-path",
    profile="msmq-3.0",
)  # fmt: skip
def refuses_system_queue_with_digits(plain, self, text):
    """Behind `system$;` any name is a system queue's that consists of letters, as those of the known ones do."""
    found = plain(text)
    if found.parts["scope"] == "system" and not str(found.parts["queue"]).isalpha():
        raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
    return found


@fault(
    "accepts-plus-in-queue-name", NameParser.name_characters, "MQMQ-2.1.1.queue-name-plus-reject",
    "MQMQ-2.1.2.queue-name-reject",
)  # fmt: skip
def accepts_plus_in_queue_name(plain, self):
    """A plus sign is taken for an ordinary character of a queue's name; 2.1.1 excludes it since MSMQ 2.0."""
    return plain() + r"\+"


@fault("rejects-uppercase-private", NameParser.private_prefix, "MQMQ-2.1.1.keyword-case", "MQMQ-2.1.2.keyword-case")
def rejects_uppercase_private(plain, self, rest):
    """`PRIVATE$` is recognised in lower case only; literals of a grammar have no case (RFC 5234)."""
    return len("private$\\") if re.match(r"private\$\\", rest) else 0


@fault(
    "accepts-long-queue-name", NameParser.queue_name_lengths, "MQMQ-2.1.1.queue-name-too-long",
    "MQMQ-2.1.2.queue-name-reject",
)  # fmt: skip
def accepts_long_queue_name(plain, self):
    """The limit of 124 characters for a queue's name is not kept."""
    return 1, 4096


@fault("reads-private-number-as-decimal", NameParser.private_number, "MQMQ-2.1.4.parts")
def reads_private_number_as_decimal(plain, self, digits):
    """The number of a private format name is read as decimal where it can be; it is hexadecimal."""
    return int(digits) if digits.isdecimal() else plain(digits)
