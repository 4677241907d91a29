"""More faults of the parser of queue names: it refuses valid names of some form (MS-MQMQ 2.1)."""

from __future__ import annotations

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Json, Name, NameParser
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_FORMATNAME, MQ_ERROR_ILLEGAL_QUEUE_PATHNAME


class _RefusesLongerSubqueueNamesParser(NameParser):
    def longest_subqueue_name(self) -> int:
        return 30


class RefusesLongerSubqueueNames(Fault):
    """A subqueue's name may have 30 characters at most."""

    name = "refuses-longer-subqueue-names"
    breaks = ("MQMQ-2.1.1.subqueue-length",)
    replaces = ("names", _RefusesLongerSubqueueNamesParser)


class _RefusesTransactionalSystemPathParser(NameParser):
    def path(self, text: str) -> Name:
        found = super().path(text)
        if found.parts["scope"] == "system" and str(found.parts["queue"]).lower() == "deadxact":
            raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
        return found


class RefusesTransactionalSystemPath(Fault):
    """Of the system queues the transactional dead-letter queue has no path name."""

    name = "refuses-transactional-system-path"
    breaks = ("MQMQ-2.1.1.system-path",)
    replaces = ("names", _RefusesTransactionalSystemPathParser)


class _RefusesDirectTransactionalDeadLetterParser(NameParser):
    def _direct(self, text: str, rest: str) -> Name | None:
        found = super()._direct(text, rest)
        return None if found is not None and found.suffix == "deadxact" else found


class RefusesDirectTransactionalDeadLetter(Fault):
    """Of the queues of a computer the transactional dead-letter queue has no direct name."""

    name = "refuses-direct-transactional-dead-letter"
    breaks = ("MQMQ-2.1.2.machine-queue",)
    replaces = ("names", _RefusesDirectTransactionalDeadLetterParser)


class _RefusesLowerCaseProtocolParser(NameParser):
    def _direct(self, text: str, rest: str) -> Name | None:
        protocol = rest.partition(":")[0]
        return super()._direct(text, rest) if protocol == protocol.upper() else None


class RefusesLowerCaseProtocol(Fault):
    """The protocol of a direct name is recognised in upper case only."""

    name = "refuses-lower-case-protocol"
    breaks = ("MQMQ-2.1.2.keyword-case",)
    replaces = ("names", _RefusesLowerCaseProtocolParser)


class _RefusesBackslashOfHttpsParser(NameParser):
    def _direct_http(self, text: str, rest: str, parts: dict[str, Json]) -> Name | None:
        refused = parts["protocol"] == "HTTPS" and "\\" in rest
        return None if refused else super()._direct_http(text, rest, parts)


class RefusesBackslashOfHttps(Fault):
    """Behind `/MSMQ` there may be a backslash in an HTTP name, in an HTTPS name a slash alone."""

    name = "refuses-backslash-of-https"
    breaks = (
        "MQMQ-2.1.2.http-separator",
        "MQMQ-2.1.2.https",
    )
    replaces = ("names", _RefusesBackslashOfHttpsParser)


class _RefusesSubqueueOfPrivateQueueParser(NameParser):
    def _finish_direct(self, text: str, rest: str, parts: dict[str, Json]) -> Name | None:
        found = super()._finish_direct(text, rest, parts)
        lost = found is not None and found.parts["scope"] == "private" and "subqueue" in found.parts
        return None if lost else found


class RefusesSubqueueOfPrivateQueue(Fault):
    """Only public queues have subqueues that a direct name can name."""

    name = "refuses-subqueue-of-private-queue"
    breaks = ("MQMQ-2.1.2.subqueue",)
    replaces = ("names", _RefusesSubqueueOfPrivateQueueParser)


class _RefusesJournalOfPrivateNameParser(NameParser):
    def _private(self, text: str, rest: str) -> Name | None:
        found = super()._private(text, rest)
        return None if found is None or found.suffix else found


class RefusesJournalOfPrivateName(Fault):
    """A private name cannot name the journal of its queue."""

    name = "refuses-journal-of-private-name"
    breaks = ("MQMQ-2.1.4.journal",)
    replaces = ("names", _RefusesJournalOfPrivateNameParser)


class _RefusesSecondPrivateElementParser(NameParser):
    def multiple(self, text: str) -> Name:
        found = super().multiple(text)
        if sum(element.upper().startswith("PRIVATE=") for element in found.parts["elements"]) > 1:
            raise MqError(MQ_ERROR_ILLEGAL_FORMATNAME)
        return found


class RefusesSecondPrivateElement(Fault):
    """Of the elements of a multiple-element name only one can be a private name."""

    name = "refuses-second-private-element"
    breaks = (
        "MQMQ-2.1.7.elements",
        "MQMQ-2.1.7.mixed",
    )
    replaces = ("names", _RefusesSecondPrivateElementParser)
