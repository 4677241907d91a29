"""Faults of the parser of queue names that only an earlier MSMQ version can have (MS-MQMQ 2.1.1, 2.1.2)."""

from __future__ import annotations

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Name, NameParser
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_QUEUE_PATHNAME

_LATER = "msmq-4.0"  # the first version that has subqueues


class _LaterAlphabetParser(NameParser):
    def name_characters(self) -> str:
        return NameParser(_LATER).name_characters()


class KeepsAlphabetOfVersion2(Fault):
    """MSMQ 1.0 refuses the plus sign, the comma and the double quote, as the versions after it do."""

    name = "keeps-alphabet-of-version-2"
    profile = "msmq-1.0"
    breaks = ("MQMQ-2.1.1.queue-name-plus-comma-quote",)
    replaces = ("names", _LaterAlphabetParser)


class _SubqueuePathParser(NameParser):
    def parse(self, text: str, form: str) -> Name:
        later = form == "path_name" and "\\system$;" not in text.lower()
        return NameParser(_LATER).path(text) if later else super().parse(text, form)


class TellsSubqueueBeforeItsTime(Fault):
    """A path name with a semicolon is taken apart into a queue and a subqueue in MSMQ 3.0; creating it fails."""

    name = "tells-subqueue-before-its-time"
    profile = "msmq-3.0"
    breaks = ("MQMQ-2.1.1.queue-name-semicolon-reject",)
    replaces = ("names", _SubqueuePathParser)


class _SubqueueDirectParser(NameParser):
    def parse(self, text: str, form: str) -> Name:
        later = form == "format_name" and text.upper().startswith("DIRECT=")
        return NameParser(_LATER).format_name(text) if later else super().parse(text, form)


class TellsDirectSubqueueBeforeItsTime(Fault):
    """A direct name with a subqueue is taken apart in MSMQ 3.0; opening it fails."""

    name = "tells-direct-subqueue-before-its-time"
    profile = "msmq-3.0"
    breaks = (
        "MQMQ-2.1.2.suffix-reject",
        "MQMQ-2.1.2.queue-name-reject",
    )
    replaces = ("names", _SubqueueDirectParser)


class _ShortSystemQueueParser(NameParser):
    def path(self, text: str) -> Name:
        found = super().path(text)
        if found.parts["scope"] == "system" and len(str(found.parts["queue"])) > len("deadletter"):
            raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
        return found


class RefusesLongSystemQueue(Fault):
    """Behind `system$;` any name is a system queue's that is no longer than the longest of the known ones."""

    name = "refuses-long-system-queue"
    profile = "msmq-3.0"
    breaks = (
        "MQMQ-2.1.1.system-queue-unknown",
        "MQMQ-2.1.1.system-path",
    )
    replaces = ("names", _ShortSystemQueueParser)


class _LettersOnlyParser(NameParser):
    def path(self, text: str) -> Name:
        found = super().path(text)
        if found.parts["scope"] == "system" and not str(found.parts["queue"]).isalpha():
            raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
        return found


class RefusesSystemQueueWithDigits(Fault):
    """Behind `system$;` any name is a system queue's that consists of letters, as those of the known ones do."""

    name = "refuses-system-queue-with-digits"
    profile = "msmq-3.0"
    breaks = (
        "MQMQ-2.1.1.system-queue-unknown",
        "MQMQ-2.1.1.system-path",
    )
    replaces = ("names", _LettersOnlyParser)
