"""Faults of the parser of queue names that only an earlier MSMQ version can have (MS-MQMQ 2.1.1, 2.1.2)."""

from __future__ import annotations

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.names import NameParser
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_QUEUE_PATHNAME

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
