"""Faults of a parser that takes names apart wrongly, and of texts in properties (MS-MQMQ 2.1, 2.3.1)."""

from __future__ import annotations

import re
from typing import Any

from conformance.embedded.delivery import MAX_LABEL, Sending
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import also, fault
from conformance.embedded.names import Name, NameParser
from conformance.embedded.queues import Queues
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_FORMATNAME,
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_LABEL_TOO_LONG,
)


@fault("accepts-host-name-for-tcp", NameParser._address, "MQMQ-2.1.2.tcp-address-reject")
def accepts_host_name_for_tcp(plain, self, protocol, address):
    """TCP takes a computer's name where an IP address has to be."""
    return plain("OS" if protocol == "TCP" else protocol, address)


_FOLDED = str.maketrans("\u017f\u0131", "si")
_KEYWORD = re.compile(r"private\$\\|system\$;|/msmq", re.IGNORECASE)


def _plain_keywords(text: str) -> str:
    return _KEYWORD.sub(lambda found: found[0].translate(_FOLDED), text)


@fault(
    "folds-the-long-s", NameParser.path, "MQMQ-2.1.2.prefix-reject", "MQMQ-2.1.2.protocol-reject",
    "MQMQ-2.1.1.queue-name-space-reject", "MQMQ-2.1.1.queue-name-backslash-reject",
)  # fmt: skip
def folds_the_long_s(plain, self, text):
    """Keywords are compared as Unicode folds them, so that U+017F is an s in them and U+0131 an i."""
    return plain(_plain_keywords(text))


@also("folds-the-long-s", NameParser._direct)
def folds_the_long_s_direct(plain, self, text, rest):
    protocol, colon, rest = rest.partition(":")
    return plain(text, f"{protocol.translate(_FOLDED)}{colon}{_plain_keywords(rest)}")


@fault("refuses-private-queue-over-tcp", NameParser._direct, "MQMQ-2.1.2.private-queue", "MQMQ-2.1.2.tcp")
def refuses_private_queue_over_tcp(plain, self, text, rest):
    """A private queue cannot be named by the address of its computer."""
    found = plain(text, rest)
    lost = found is not None and found.parts["protocol"] == "TCP" and found.parts["scope"] == "private"
    return None if lost else found


@fault("cuts-computer-at-dot", NameParser._direct, "MQMQ-2.1.2.parts")
def cuts_computer_at_dot(plain, self, text, rest):
    """Only the part before the first dot remains of the computer of an OS name."""
    found = plain(text, rest)
    if found is None or found.parts["protocol"] != "OS":
        return found
    return Name(text, found.kind, found.parts | {"address": str(found.parts["address"]).partition(".")[0]})


@fault("refuses-port-of-http-name", NameParser._direct_http, "MQMQ-2.1.2.http", "MQMQ-2.1.2.https")
def refuses_port_of_http_name(plain, self, text, rest, parts):
    """An HTTP or HTTPS name with a port is refused."""
    return None if re.match(r"//[^/\\]*:[0-9]+/", rest) else plain(text, rest, parts)


# An empty port is then read one way behind HTTP and another behind HTTPS.
@fault("refuses-https", NameParser._direct_http, "MQMQ-2.1.2.https")
def refuses_https(plain, self, text, rest, parts):
    """HTTPS is no protocol of direct names."""
    return None if parts["protocol"] == "HTTPS" else plain(text, rest, parts)


# A prefix that is doubled is a protocol, too.
@fault("accepts-any-protocol", NameParser._address, "MQMQ-2.1.2.protocol-reject")
def accepts_any_protocol(plain, self, protocol, address):
    """Whatever stands before the colon is a protocol."""
    known = protocol in ("OS", "TCP", "IPX", "SPX")
    return plain(protocol if known else "OS", address) and bool(protocol)


@fault("takes-journal-for-subqueue", NameParser._finish_direct, "MQMQ-2.1.2.journal", "MQMQ-2.1.2.parts")
def takes_journal_for_subqueue(plain, self, text, rest, parts):
    """`;JOURNAL` behind the name of a queue is taken for a subqueue of that name."""
    queue, semicolon, suffix = rest.rpartition(";")
    if semicolon and suffix.upper() == "JOURNAL" and self._queue(queue, parts) and "subqueue" not in parts:
        return Name(text, "direct", parts | {"subqueue": suffix})
    return plain(text, rest, parts)


@fault("refuses-lower-case-journal", NameParser._finish_direct, "MQMQ-2.1.2.keyword-case", "MQMQ-2.1.2.journal")
def refuses_lower_case_journal(plain, self, text, rest, parts):
    """`;JOURNAL` is recognised in upper case only; literals of a grammar have no case (RFC 5234)."""
    suffix = rest.rpartition(";")[2]
    return None if suffix.upper() == "JOURNAL" != suffix else plain(text, rest, parts)


@fault("confuses-dead-letter-queues", NameParser._direct, "MQMQ-2.1.2.parts")
def confuses_dead_letter_queues(plain, self, text, rest):
    """The transactional dead-letter queue of a direct name is taken for the other one."""
    found = plain(text, rest)
    if found is None or found.suffix != "deadxact":
        return found
    return Name(text, found.kind, found.parts | {"suffix": "deadletter"})


@fault("accepts-any-system-queue", NameParser._finish_direct, "MQMQ-2.1.2.system-queue-reject")
def accepts_any_system_queue(plain, self, text, rest, parts):
    """Behind `SYSTEM$;` any name is taken, as if it were a subqueue of a queue called SYSTEM$."""
    queue, semicolon, name = rest.partition(";")
    if queue.upper() == "SYSTEM$" and semicolon and self._subqueue.match(name):
        return Name(text, "direct", parts | {"queue": queue, "subqueue": name})
    return plain(text, rest, parts)


@fault("accepts-octet-over-255", NameParser._address, "MQMQ-2.1.2.tcp-address-reject")
def accepts_octet_over_255(plain, self, protocol, address):
    """`DIRECT=TCP:` takes any four numbers of up to three digits for an address."""
    loose = protocol == "TCP" and re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", address, re.ASCII)
    return bool(loose) or plain(protocol, address)


_GUID_CHARACTERS = 36


@fault("accepts-braces-around-guid", NameParser._public, "MQMQ-2.1.3.guid-reject")
def accepts_braces_around_guid(plain, self, text, rest):
    """The GUID of a public name may stand in braces, as the registry writes it."""
    return plain(text, re.sub(r"\A\{([^{}]*)\}", r"\1", rest))


@fault("ignores-text-behind-public-guid", NameParser._public, "MQMQ-2.1.3.trailing-reject", "MQMQ-2.1.3.guid-reject")
def ignores_text_behind_public_guid(plain, self, text, rest):
    """Nobody looks at the text behind the GUID of a public name."""
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
    """The transactional dead-letter queue alone of a computer's queues has no machine name."""
    found = plain(text, rest)
    return None if found and found.suffix == "deadxact" else found


@fault(
    "accepts-journal-of-connector", NameParser._connector, "MQMQ-2.2.7.suffix-journal-type",
    "MQMQ-2.1.6.connector-suffix", "MQMP-3.1.4.17.malformed-format-name",
)  # fmt: skip
def accepts_journal_of_connector(plain, self, text, rest):
    """A connector queue has a journal."""
    return plain(text, re.sub(r";JOURNAL\Z", "", rest))


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


@fault("accepts-long-computer-name", NameParser.longest_computer_name, "MQMQ-2.1.1.computer-too-long")
def accepts_long_computer_name(plain, self):
    """The limit of 256 characters for a computer's name is not kept."""
    return 4096


@fault(
    "accepts-empty-queue-name", NameParser.queue_name_lengths, "MQMQ-2.1.1.queue-name-missing",
    "MQMQ-2.1.2.queue-name-missing",
)  # fmt: skip
def accepts_empty_queue_name(plain, self):
    """A queue's name may be empty: what stands before and behind it is enough."""
    return 0, plain()[1]


@fault(
    "accepts-backslash-in-queue-name", NameParser.name_characters, "MQMQ-2.1.1.queue-name-backslash-reject",
    "MQMQ-2.1.2.queue-name-reject",
)  # fmt: skip
def accepts_backslash_in_queue_name(plain, self):
    """A backslash is taken for an ordinary character of a queue's name once its scope is known."""
    return plain() + r"\\"


@fault(
    "keeps-alphabet-of-version-1", NameParser.name_characters, "MQMQ-2.1.1.queue-name-plus-reject",
    "MQMQ-2.1.1.queue-name-comma-reject", "MQMQ-2.1.1.queue-name-quote-reject", "MQMQ-2.1.2.queue-name-reject",
)  # fmt: skip
def keeps_alphabet_of_version_1(plain, self):
    """Queue names are still spelled as in MSMQ 1.0, with plus sign, comma and double quote."""
    return plain() + '\\+,"'


@fault("refuses-tilde-in-queue-name", NameParser.name_characters, "MQMQ-2.1.1.queue-name-alphabet")
def refuses_tilde_in_queue_name(plain, self):
    """The last printable character is left out of the alphabet of queue names."""
    return plain().replace("\\x7E", "\\x7D")


@fault("refuses-subqueues", NameParser.subqueues, "MQMQ-2.1.1.subqueue", "MQMQ-2.1.2.subqueue")
def refuses_subqueues(plain, self):
    """Names of subqueues are refused, as before MSMQ 4.0."""
    return False


@fault("accepts-long-subqueue-name", NameParser.longest_subqueue_name, "MQMQ-2.1.1.subqueue-too-long")
def accepts_long_subqueue_name(plain, self):
    """A subqueue's name may be as long as a queue's."""
    return 124


@fault("takes-system-queue-for-subqueue", NameParser.path, "MQMQ-2.1.1.parts", "MQMQ-2.1.1.system-path")
def takes_system_queue_for_subqueue(plain, self, text):
    """`system$` in a path name is taken for a public queue, and the system queue for a subqueue of it."""
    found = plain(text)
    if found.parts["scope"] != "system":
        return found
    keyword = text.partition("\\")[2].partition(";")[0]
    queue = {"scope": "public", "queue": keyword, "subqueue": found.parts["queue"]}
    return Name(text, found.kind, found.parts | queue)


@fault(
    "cuts-names-at-nul", NameParser.parse, "MQMQ-2.1.1.queue-name-control-reject", "MQMQ-2.1.2.queue-name-reject",
    "MQMQ-2.1.3.trailing-reject", "MQMQ-2.1.4.number-reject", "MQMQ-2.1.5.domain-alphabet-reject",
)  # fmt: skip
def cuts_names_at_nul(plain, self, text, form):
    """A name ends at the first NUL, whatever stands behind it."""
    return plain(text.partition("\0")[0], form)


@also("cuts-names-at-nul", NameParser.path)
def cuts_names_at_nul_path(plain, self, text):
    return plain(text.partition("\0")[0])


@also("cuts-names-at-nul", NameParser.format_name)
def cuts_names_at_nul_format_name(plain, self, text):
    return plain(text.partition("\0")[0])


@fault("leaves-queue-of-refused-name", Queues.create, "MQDMPR-3.1.7.1.3.invalid-path-name-no-queue")
def leaves_queue_of_refused_name(plain, self, path_name, given):
    """Creation under a name that is too long fails, yet leaves a queue under as much of it as fits."""
    try:
        return plain(path_name, given)
    except MqError:
        computer, scope, queue = path_name.rpartition("\\")
        if len(queue) > 124:
            plain(computer + scope + queue[:124], given)
        raise


Json = Any
_LABEL, _MULTICAST = "PROPID_Q_LABEL", "PROPID_Q_MULTICAST_ADDRESS"
_LONGEST_QUEUE_LABEL = 124
_ADDRESS = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3}){3})(:[0-9]{1,9})?\Z")


@fault("forgets-suffix-of-connector", NameParser._connector, "MQMQ-2.1.6.connector-suffix")
def forgets_suffix_of_connector(plain, self, text, rest):
    """`;XACTONLY` behind a connector is read and forgotten."""
    found = plain(text, rest)
    return Name(text, found.kind, {"guid": found.parts["guid"]}) if found else None


@fault("takes-connector-for-read-only", NameParser.multiple, "MQMQ-2.1.7.mixed")
def takes_connector_for_read_only(plain, self, text):
    """The transactional queue of a connector may not stand among several elements, as if it were a journal."""
    if any(element.lower().endswith(";xactonly") for element in self.elements(text[:4096])):
        raise MqError(MQ_ERROR_ILLEGAL_FORMATNAME)
    return plain(text)


@fault("keeps-any-queue-label", Queues.properties_to_keep, "MQMQ-2.3.1.8.label-maximum")
def keeps_any_queue_label(plain, self, given, *, creating):
    """The label of a queue may be of any length."""
    label = given.get(_LABEL)
    others = {name: value for name, value in given.items() if name != _LABEL}
    kept = plain(others, creating=creating)
    return kept | {_LABEL: label} if isinstance(label, str) else kept


@fault(
    "cuts-longest-queue-label", Queues.properties_to_keep, "MQDMPR-3.1.7.1.3.attribute-label",
    "MQMQ-2.3.1.8.label-maximum",
)  # fmt: skip
def cuts_longest_queue_label(plain, self, given, *, creating):
    """The label of a queue loses its last character when it is as long as it may be."""
    kept = plain(given, creating=creating)
    return kept | {_LABEL: kept[_LABEL][: _LONGEST_QUEUE_LABEL - 1]} if _LABEL in kept else kept


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


@fault("keeps-any-address-as-multicast", "queues", "MQMQ-2.3.1.23.class-d", "MQMQ-2.3.1.23.multicast-address-rule")
class KeepsAnyAddressAsMulticast(_TaintedQueues):
    """The multicast address of a queue may be any IPv4 address."""

    def lawful(self, address: str, port: str | None) -> bool:
        octets = address.split(".")
        return port is not None and int(port) <= 65535 and all(int(octet) <= 255 for octet in octets)


@fault("keeps-multicast-without-port", "queues", "MQMQ-2.3.1.23.address", "MQMQ-2.3.1.23.multicast-address-rule")
class KeepsMulticastWithoutPort(_TaintedQueues):
    """The multicast address of a queue may lack its port."""

    def lawful(self, address: str, port: str | None) -> bool:
        return port is None and 224 <= int(address.partition(".")[0]) <= 239


@fault("keeps-multicast-with-large-port", "queues", "MQMQ-2.3.1.23.multicast-address-rule")
class KeepsMulticastWithLargePort(_TaintedQueues):
    """The port of the multicast address of a queue may be more than 65535."""

    def lawful(self, address: str, port: str | None) -> bool:
        octets = [int(octet) for octet in address.split(".")]
        return port is not None and int(port) > 65535 and 224 <= octets[0] <= 239 and max(octets) <= 255


@fault("keeps-refused-properties", Queues.set, "MQMP-3.1.4.10.refused-unchanged")
def keeps_refused_properties(plain, self, format_name, given):
    """A value of a property that is refused is kept all the same."""
    try:
        plain(format_name, given)
    except MqError as error:
        if error.status == MQ_ERROR_ILLEGAL_PROPERTY_VALUE:
            self._owner(format_name).properties |= given
        raise


@fault(
    "counts-label-in-letters", Sending.label_bytes, "MQDMPR-3.1.1.12.label-length",
    "MQMQ-2.2.19.3.label-length-maximum", "MQMQ-2.4.label-too-long",
)  # fmt: skip
def counts_label_in_letters(plain, self, fields):
    """The longest label of a message is counted in letters, of which some take two elements of the packet's field."""
    label = fields["label"]
    usual = "x" * len(label) if isinstance(label, str) and "\0" not in label else label
    return plain({**fields, "label": usual})


@fault("cuts-long-label", Sending.label_bytes, "MQMQ-2.4.label-too-long", "MQDMPR-3.1.1.12.label-length")
def cuts_long_label(plain, self, fields):
    """A label of a message that is too long is cut to half of the longest, and the message sent."""
    try:
        return plain(fields)
    except MqError as error:
        if error.status != MQ_ERROR_LABEL_TOO_LONG:
            raise
        fields["label"] = fields["label"][: MAX_LABEL // 2]
        return plain(fields)


@fault("refuses-longest-label", Sending.label_bytes, "MQDMPR-3.1.1.12.label-length")
def refuses_longest_label(plain, self, fields):
    """The terminating null is counted among the characters of a message's label."""
    size = plain(fields)
    if size > 2 * MAX_LABEL:
        raise MqError(MQ_ERROR_LABEL_TOO_LONG)
    return size


@fault("other-code-for-long-label", Sending.label_bytes, "MQMQ-2.4.label-too-long-code")
def other_code_for_long_label(plain, self, fields):
    """A label that is too long is refused as any illegal value is."""
    try:
        return plain(fields)
    except MqError:
        raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE) from None


@fault("loses-letters-of-label", Sending.label_bytes, "MQDMPR-3.1.1.12.label-unchanged")
def loses_letters_of_label(plain, self, fields):
    """Letters of a label that take two elements of UTF-16 become question marks."""
    size = plain(fields)
    fields["label"] = "".join(char if char <= "\uffff" else "?" for char in fields["label"])
    return size


@fault("takes-null-in-label", Sending.label_bytes, "MQDMPR-3.1.1.12.label-unchanged", "MQMQ-2.2.19.3.label-rule")
def takes_null_in_label(plain, self, fields):
    """A null in the middle of a message's label is taken, for a space."""
    label = fields["label"]
    fields["label"] = label.replace("\0", " ") if isinstance(label, str) else label
    return plain(fields)


@fault("tells-path-with-slashes", Queues.get, "MQMQ-2.1.1.sent", "MQDMPR-3.1.7.1.3.attribute-pathname")
def tells_path_with_slashes(plain, self, format_name, names):
    """The path name among the properties of a queue has slashes where a path name has backslashes."""
    values = plain(format_name, names)
    path = values.get("PROPID_Q_PATHNAME")
    return values | {"PROPID_Q_PATHNAME": path.replace("\\", "/")} if path is not None else values
