"""More faults of the parser of queue names: it refuses valid names of some form (MS-MQMQ 2.1)."""

from __future__ import annotations

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.names import NameParser
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_FORMATNAME, MQ_ERROR_ILLEGAL_QUEUE_PATHNAME


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
