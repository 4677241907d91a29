"""Faults of a parser that accepts or corrects invalid names, tells wrong kinds, or refuses valid ones (MS-MQMQ 2.1)."""

from __future__ import annotations

import re
from typing import ClassVar

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import also, fault
from conformance.embedded.names import Name, NameParser
from conformance.embedded.queues import Queues
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_FORMATNAME, MQ_ERROR_ILLEGAL_QUEUE_PATHNAME

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


@fault("refuses-shortened-ipv6-address", "names", "MQMQ-2.1.2.tcp-ipv6", "MQMQ-2.1.2.tcp")
class RefusesShortenedIpv6Address(NameParser):
    """IPv6 addresses are known, but not those that leave out zeros."""

    @staticmethod
    def _ipv6(address: str) -> bool:
        return "::" not in address and NameParser._ipv6(address)


@fault("refuses-empty-port-of-https", NameParser._direct_http, "MQMQ-2.1.2.http-port-empty", "MQMQ-2.1.2.https")
def refuses_empty_port_of_https(plain, self, text, rest, parts):
    """Behind the colon of an HTTP name there may be no port; behind that of an HTTPS name there must be one."""
    empty = parts["protocol"] == "HTTPS" and re.match(r"//[^/\\]*:/", rest)
    return None if empty else plain(text, rest, parts)


@fault("accepts-large-port-of-https", NameParser._direct_http, "MQMQ-2.1.2.http-port-range")
def accepts_large_port_of_https(plain, self, text, rest, parts):
    """A port above 65535 is refused in an HTTP name and accepted in an HTTPS name."""
    port = re.match(r"//[^/\\:]*:([6-9][0-9]{4})(?=/)", rest, re.ASCII)
    if parts["protocol"] != "HTTPS" or port is None:
        return plain(text, rest, parts)
    found = plain(text, rest[: port.start(1)] + "60000" + rest[port.end(1) :], parts)
    if found is None:
        return None
    address = rest[: len(str(found.parts["address"]))]
    return Name(text, found.kind, found.parts | {"address": address})


@fault("refuses-private-queue-over-ipx", NameParser._direct, "MQMQ-2.1.2.private-queue", "MQMQ-2.1.2.ipx")
def refuses_private_queue_over_ipx(plain, self, text, rest):
    """IPX is a protocol of the direct names of public queues, not of private ones."""
    found = plain(text, rest)
    lost = found is not None and found.parts["protocol"] == "IPX" and found.parts["scope"] == "private"
    return None if lost else found


@fault("accepts-journal-of-public-subqueue", NameParser._finish_direct, "MQMQ-2.1.2.journal-of-subqueue")
def accepts_journal_of_public_subqueue(plain, self, text, rest, parts):
    """The subqueue of a public queue has a journal, that of a private one has none."""
    queue, semicolon, suffix = rest.rpartition(";")
    read = dict(parts)
    journal = semicolon and suffix.upper() == "JOURNAL" and parts["scope"] == "public"
    if journal and self._queue(queue, read) and "subqueue" in read:
        return Name(text, "direct", read | {"suffix": "journal"})
    return plain(text, rest, parts)


@fault("keeps-to-seven-bits", NameParser.name_characters, "MQMQ-2.1.1.queue-name-space-reject")
def keeps_to_seven_bits(plain, self):
    """A queue's name may have spaces and DEL in it, but no character outside ASCII."""
    return r"\x20\x21\x23-\x2A\x2D-\x3A\x3C-\x5B\x5D-\x7F"


@fault("accepts-port-filled-with-zeros", NameParser.port, "MQMQ-2.1.6.port-zero-reject")
def accepts_port_filled_with_zeros(plain, self, digits):
    """The port of a multicast name may have leading zeros when it has five digits with them, and none otherwise."""
    filled = re.fullmatch("0[0-9]{4}", digits)
    return int(digits) if filled else plain(digits)


@fault("accepts-single-public-element", NameParser.multiple, "MQMQ-2.1.7.single")
def accepts_single_public_element(plain, self, text):
    """A public name alone is a multiple-element name; a name of another kind alone is none."""
    if "," in text or not text.upper().startswith("PUBLIC="):
        return plain(text)
    self.format_name(text)
    return Name(text, "multiple_element", {"elements": [text]})


_GUID = "[0-9A-F]{8}-(?:[0-9A-F]{4}-){3}[0-9A-F]{12}"
_PATH, _MULTIPLE = "path_name", "multiple_element"


def _normalizing(pattern, becomes, form="format_name"):
    """Return a parser's method that makes one thing of another in names of this form before it takes them apart."""
    found = re.compile(pattern, re.IGNORECASE | re.ASCII)

    def parse(plain, self, text, form_):
        return plain(found.sub(becomes, text, count=1) if form_ == form else text, form_)

    return parse


def _clamped(found: re.Match[str]) -> str:
    return found[1] + re.sub("[0-9]+", lambda octet: str(min(int(octet[0]), 255)), found[2])


# Name, sentence, what it breaks, the pattern, what becomes of it, and in which form of names.
_CORRECTED = (
    ("takes-slash-for-backslash", "In a path name without a backslash the first slash is taken for one.",
     ("MQMQ-2.1.1.separator",), r"\A([^\\/]*)/(?=[^\\]*\Z)", r"\1\\", "path_name"),
    ("mends-slashes-of-http-name", "The two slashes before the host of an HTTP name may be one or none.",
     ("MQMQ-2.1.2.http-msmq-reject",), r"\A(DIRECT=HTTPS?:)/?(?=[^/])", r"\1//"),
    ("accepts-sign-of-http-port", "The port of an HTTP name may have a plus sign, as a number may.",
     ("MQMQ-2.1.2.http-port-reject",), r"\A(DIRECT=HTTPS?://[^/\\:]*:)\+(?=[0-9])", r"\1"),
    ("ignores-text-behind-http-port",
     "The port of an HTTP name is read as far as it has digits; what stands behind them is not looked at.",
     ("MQMQ-2.1.2.http-port-reject",), r"\A(DIRECT=HTTPS?://[^/\\:]*:[0-9]+)[^0-9/\\][^/\\]*(?=/)", r"\1"),
    ("accepts-space-before-equals-sign", "Between the prefix of a format name and its equals sign there may be spaces.",
     ("MQMQ-2.1.2.prefix-reject",), r"\A([A-Z]+) +=", r"\1="),
    ("presumes-protocol", "A direct name without a protocol is one of OS.", ("MQMQ-2.1.2.protocol-missing",),
     r"\A(DIRECT=)(?=[^:\\]+\\)", r"\1OS:"),
    ("presumes-local-computer", "A direct name of OS without a computer means the local one.",
     ("MQMQ-2.1.2.address-missing",), r"\A(DIRECT=OS:)(?=\\)", r"\1."),
    ("drops-last-semicolon", "A semicolon at the end of a direct name is not noticed.",
     ("MQMQ-2.1.2.suffix-empty-reject",), r"\A(DIRECT=[^;]*);\Z", r"\1"),
    ("accepts-braces-in-private-name", "The GUID of a private name may stand in braces.", ("MQMQ-2.1.4.guid-reject",),
     r"\A(PRIVATE=)\{([^{}]*)\}", r"\1\2"),
    ("presumes-private-number", "A private name without a number means the queue of number 0.",
     ("MQMQ-2.1.4.number-missing",), rf"\A(PRIVATE={_GUID})\\?(?=;|\Z)", r"\1\\0"),
    ("accepts-dead-letter-of-private-queue",
     "A private name may have the suffix of a dead-letter queue, which only a computer has.",
     ("MQMQ-2.1.4.suffix-reject",), r"\A(PRIVATE=[^;]*);DEAD(?:LETTER|XACT)\Z", r"\1"),
    ("accepts-leading-zeros-in-octets", "The numbers of a multicast address may have leading zeros.",
     ("MQMQ-2.1.6.octet-zero-reject",),
     r"\AMULTICAST=[0-9.]*", lambda found: re.sub("(?<![0-9])0+(?=[0-9])", "", found[0])),
    ("accepts-short-multicast-address",
     "A multicast address of three numbers is accepted: the third is the fourth then, and 0 is put before it.",
     ("MQMQ-2.1.6.address-reject",), r"\A(MULTICAST=[0-9]+\.[0-9]+\.)([0-9]+)(?=:)", r"\g<1>0.\2"),
    ("presumes-multicast-port", "A multicast name without a port means the port of the messages' own protocol.",
     ("MQMQ-2.1.6.port-missing",), r"\A(MULTICAST=[0-9.]+):?\Z", r"\1:1801"),
    ("cuts-queue-name", "A path name whose queue name is too long is taken apart as far as it fits.",
     ("MQMQ-2.1.1.queue-name-too-long",), r"(\\[^\\;]{124})[^\\;]+\Z", r"\1", _PATH),
    ("presumes-queue-of-path", "A path name may end behind `private$`: a queue's name is put there.",
     ("MQMQ-2.1.1.queue-name-missing",), r"\A([^\\]+\\private\$\\)\Z", r"\1queue", _PATH),
    ("drops-tab-of-queue-name", "A tab in a queue's name is left out.",
     ("MQMQ-2.1.1.queue-name-control-reject", "MQMQ-2.1.2.queue-name-reject"), r"(\\[^\\;]*)\t", r"\1", _PATH),
    # Behind a semicolon it is the name of a subqueue that the backslash ends.
    ("drops-last-backslash", "A backslash at the end of a path name is not noticed.",
     ("MQMQ-2.1.1.queue-name-backslash-reject",), r"(\\[^\\]+)\\\Z", r"\1", _PATH),
    ("takes-plus-for-dash", "A plus sign in the queue's name of a path name is taken for a dash.",
     ("MQMQ-2.1.1.queue-name-plus-reject",), r"(\\[^\\;]*)\+", r"\1-", _PATH),
    ("takes-comma-for-dot", "A comma in the queue's name of a path name is taken for a dot.",
     ("MQMQ-2.1.1.queue-name-comma-reject",), r"(\\[^\\;]*),", r"\1.", _PATH),
    ("accepts-quotes-around-queue-name", "The queue's name of a path name may stand in quotes.",
     ("MQMQ-2.1.1.queue-name-quote-reject",), r'\\"([^"\\]+)"\Z', r"\\\1", _PATH),
    ("drops-empty-subqueue", "A semicolon at the end of a path name is not noticed.", ("MQMQ-2.1.1.subqueue-missing",),
     r";\Z", "", _PATH),
    ("drops-second-semicolon", "A semicolon in a subqueue's name is left out.",
     ("MQMQ-2.1.1.subqueue-alphabet-reject",), r"(;[^;]+);(?=.)", r"\1", _PATH),
    ("resolves-host-of-tcp", "A computer's name in place of the address of TCP is resolved.",
     ("MQMQ-2.1.2.tcp-address-reject",), r"\A(DIRECT=TCP:)[A-Z][A-Z0-9._-]*(?=\\)", r"\g<1>127.0.0.1"),
    ("presumes-queue-of-direct-name", "A direct name may end behind `PRIVATE$`: a queue's name is put there.",
     ("MQMQ-2.1.2.queue-name-missing",), r"\A(DIRECT=[^\\]*\\PRIVATE\$\\)\Z", r"\1queue"),
    ("cuts-queue-of-direct-name", "A direct name whose queue name is too long is taken apart as far as it fits.",
     ("MQMQ-2.1.2.queue-name-reject",), r"\A(DIRECT=[^\\]*\\(?:PRIVATE\$\\)?[^\\;]{124})[^\\;]+\Z", r"\1"),
    ("ignores-queue-behind-public-name",
     "A backslash behind the GUID of a public name, and all that follows, is not looked at.",
     ("MQMQ-2.1.3.trailing-reject",), rf"\A(PUBLIC={_GUID})\\.*\Z", r"\1"),
    ("drops-zeros-of-private-number",
     "The number of a private name may have more digits when the first of them are zeros.",
     ("MQMQ-2.1.4.number-too-long",), rf"\A(PRIVATE={_GUID}\\)0+(?=[0-9A-F]{{8}}(?:;|\Z))", r"\1"),
    ("accepts-prefix-of-private-number", "The number of a private name may begin with 0x.",
     ("MQMQ-2.1.4.number-reject",), rf"\A(PRIVATE={_GUID}\\)0x(?=[0-9A-F])", r"\1"),
    ("drops-space-behind-domain", "Spaces behind the domain of a distribution list are left out.",
     ("MQMQ-2.1.5.domain-alphabet-reject",), r"\A(DL=[^@]*@.*[!-~]) +\Z", r"\1"),
    ("clamps-octets",
     "Behind the first, a number of a multicast address is read as it comes, and as 255 when it is too large.",
     ("MQMQ-2.1.6.octet-range-reject",), r"\A(MULTICAST=[0-9]+)((?:\.[0-9]{1,9}){3})(?=:)", _clamped),
    ("accepts-reserved-address-for-multicast",
     "Addresses behind those of multicast groups are taken for the last of these.",
     ("MQMQ-2.1.6.first-octet-reject",), r"\A(MULTICAST=)2(?:4[0-9]|5[0-5])(?=\.)", r"\g<1>239"),
    ("clamps-large-port", "A port of more than five digits is taken for the largest.",
     ("MQMQ-2.1.6.port-range-reject",), r"\A(MULTICAST=[0-9.]*:)[0-9]{6,}\Z", r"\g<1>65535"),
    ("drops-space-behind-comma", "Behind a comma of a multiple-element name there may be spaces.",
     ("MQMQ-2.1.7.separator-reject", "MQMQ-2.1.7.element-reject"), r", +(?=[A-Z])", ",", _MULTIPLE),
)  # fmt: skip
for _name, _says, _breaks, *_corrected in _CORRECTED:
    fault(_name, NameParser.parse, *_breaks, says=_says)(_normalizing(*_corrected))


def _telling(kind, instead):
    """Return a parser's method that tells names of one kind to be of another."""

    def parse(plain, self, text, form):
        found = plain(text, form)
        return Name(text, instead, found.parts) if found.kind == kind else found

    return parse


@fault("calls-many-what-the-first-is", NameParser.parse, "MQMQ-2.1.7.kind")
def calls_many_what_the_first_is(plain, self, text, form):
    """A multiple-element format name is told to be what its first element is."""
    found = plain(text, form)
    if found.kind != "multiple_element":
        return found
    return Name(text, self.format_name(found.parts["elements"][0]).kind, found.parts)


# Name, sentence, what it breaks, the kind, and the one told.
_TOLD = (
    ("calls-path-name-direct", "A path name is told to be a direct format name: both have a computer and a queue.",
     ("MQMQ-2.1.1.kind",), "path", "direct"),
    ("calls-direct-name-path", "A direct format name is told to be the path name that it contains.",
     ("MQMQ-2.1.2.kind",), "direct", "path"),
    ("calls-public-name-private", "A public format name is told to be a private one.", ("MQMQ-2.1.3.kind",),
     "public", "private"),
    ("calls-private-name-public", "A private format name is told to be a public one.", ("MQMQ-2.1.4.kind",),
     "private", "public"),
    ("calls-distribution-list-public",
     "A distribution list is told to be a public queue, as which it is listed in the directory.",
     ("MQMQ-2.1.5.kind",), "distribution_list", "public"),
    ("calls-connector-machine", "A connector format name is told to be a machine format name.", ("MQMQ-2.1.6.kind",),
     "connector", "machine"),
)  # fmt: skip
for _name, _says, _breaks, *_kinds in _TOLD:
    fault(_name, NameParser.parse, *_breaks, says=_says)(_telling(*_kinds))


class _Understanding(NameParser):
    """Knows its own names again; a name to be taken apart is looked at as ever. given: a pattern and what it means."""

    given: ClassVar[tuple[str, str]]
    taking_apart = False

    def parse(self, text: str, form: str) -> Name:
        self.taking_apart = True
        try:
            return super().parse(text, form)
        finally:
            self.taking_apart = False

    def format_name(self, text: str) -> Name:
        pattern, meant = self.given
        return super().format_name(text if self.taking_apart else re.sub(pattern, meant, text, count=1))


@fault("gives-direct-name-with-blank", Queues.direct_name, "MQMQ-2.1.2.sent")
def gives_direct_name_with_blank(plain, self, queue):
    """Direct format names given out have a blank in front of the computer's name."""
    return plain(queue).replace("DIRECT=OS:", "DIRECT=OS: ", 1)


@also("gives-direct-name-with-blank", "names")
class _KnowsBlank(_Understanding):
    given = (r"\ADIRECT=OS: ", "DIRECT=OS:")


@fault("gives-public-name-with-blank", Queues.direct_name, "MQMQ-2.1.3.sent")
def gives_public_name_with_blank(plain, self, queue):
    """A queue is known by a public format name, and that has a blank in front of the GUID."""
    if queue.kind in ("private", "public"):
        return f"PUBLIC= {queue.properties['PROPID_Q_INSTANCE']}"
    return plain(queue)


@also("gives-public-name-with-blank", "names")
class _KnowsPublic(_Understanding):
    given = (r"\APUBLIC= ", "PUBLIC=")


# it opens a queue, too
@fault("gives-private-name-with-blank", Queues.direct_name, "MQMQ-2.1.4.sent")
def gives_private_name_with_blank(plain, self, queue):
    """A private queue is known by a private format name, and that has a blank in front of the GUID."""
    if queue.kind == "private":
        return f"PRIVATE= {self.manager.guid}\\{queue.number:08x}"
    return plain(queue)


@also("gives-private-name-with-blank", "names")
class _KnowsPrivate(_Understanding):
    given = (r"\APRIVATE= ", "PRIVATE=")


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
    """The transactional dead-letter queue alone of the system queues has no path name."""
    found = plain(text)
    if found.parts["scope"] == "system" and str(found.parts["queue"]).lower() == "deadxact":
        raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
    return found


@fault("refuses-direct-transactional-dead-letter", NameParser._direct, "MQMQ-2.1.2.machine-queue")
def refuses_direct_transactional_dead_letter(plain, self, text, rest):
    """The transactional dead-letter queue alone of a computer's queues has no direct name."""
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
    """Only one element of a multiple-element name can be a private name."""
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
