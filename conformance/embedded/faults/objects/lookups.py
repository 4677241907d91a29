"""Faults of objects that look into the directory (MC-MQAC 3.10.4.1.30 to 3.10.4.1.39, 3.10.6.1)."""

from __future__ import annotations

from typing import Final

from conformance.embedded.directory import Directory
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.objects.management import ManagementObject
from conformance.embedded.objects.message import MessageObject, MessageSending
from conformance.embedded.objects.queue_info import QueueInfoObject
from conformance.embedded.objects.variants import long, text
from conformance.spec.constants.hresults import MQ_ERROR

_UPDATE: Final = "MQAC-3.10.4.1.30."
_ADS: Final = "MQAC-3.10.4.1.39."
_NAME: Final = "MQAC-3.10.6.1."


@fault("update-leaves-the-directory", Directory.write, _UPDATE + "generate-write-directory-arguments",
       _UPDATE + "identifier-equals-application-queue-identifier")  # fmt: skip
def update_leaves_the_directory(plain, self, found, given):
    """Update changes nothing of a queue of another computer."""


@fault("directory-path-of-nothing-is-empty", QueueInfoObject.ads_path,
       *(_ADS + each for each in ("refresh-failure", "variable-queue-format-name-null",
                                  "variable-queue-format-name-queue-http", "return-hresult-error-after-else")),
       first_seen_as=(_NAME + "return-ref-queue-pathname-null",),
       because="an object that names no queue has no directory path")  # fmt: skip
def directory_path_of_nothing_is_empty(plain, self):
    """ADsPath of what has none is an empty text."""
    try:
        return plain()
    except MqError:
        return text("")


@fault("directory-path-fails-with-another-code", QueueInfoObject.ads_path, _ADS + "refresh-failure-code")
def directory_path_fails_with_another_code(plain, self):
    """ADsPath of what has none fails with MQ_ERROR."""
    try:
        return plain()
    except MqError:
        raise MqError(MQ_ERROR) from None


@fault("lookup-finds-the-first-queue", Directory.queue_at, _NAME + "pathname-equals-expanded-path-name",
       _NAME + "generate-read-directory-arguments",
       first_seen_as=("MQAC-3.12.4.1.10.output-pbstr-format-name",),
       because="an MSMQDestination finds its queue so too")  # fmt: skip
def lookup_finds_the_first_queue(plain, self, path):
    """A path name that the directory knows is that of the first queue given."""
    found = plain(path)
    return self._given[0] if found in self._given else found


@fault("queue-type-of-nothing-is-told", ManagementObject.row, "MQAC-3.3.4.1.6.return-status-mq-ok-0x00000000")
def queue_type_of_nothing_is_told(plain, self, signature, values):
    """QueueType of a queue that is gone is the first of the types."""
    try:
        return plain(signature, values)
    except MqError:
        if signature.name != "QueueType" or not self.is_initialized:
            raise
        return long(0)


@fault("destination-object-names-one-queue", MessageSending.destination_name,
       "MQAC-3.17.4.1.48.result-queue-format-name-msmq-destination",
       "MQAC-3.17.4.1.82.variable-queue-format-name-msmq-destination")  # fmt: skip
def destination_object_names_one_queue(plain, self):
    """A message sent to an MSMQDestination of several queues names the first alone."""
    found = plain()
    return None if found is None else found.split(",")[0]


@fault("destination-of-a-message-has-no-name", MessageObject.destination_named,
       "MQAC-3.17.4.1.82.variable-queue-format-name-msmq-destination")  # fmt: skip
def destination_of_a_message_has_no_name(plain, self, field):
    """The MSMQDestination that Destination hands out has no format name."""
    found = plain(field)
    if field == "destination":
        found.value.format_name = None
    return found
