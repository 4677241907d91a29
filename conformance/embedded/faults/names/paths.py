"""Faults of the parser of queue names: computers, queues and subqueues, their lengths and alphabets (MS-MQMQ 2.1.1)."""

from __future__ import annotations

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Json, Name, NameParser
from conformance.embedded.queues import Queues


class _LongComputerParser(NameParser):
    def longest_computer_name(self) -> int:
        return 4096


class AcceptsLongComputerName(Fault):
    """The limit of 256 characters for a computer's name is not kept."""

    name = "accepts-long-computer-name"
    breaks = ("MQMQ-2.1.1.computer-too-long",)
    replaces = ("names", _LongComputerParser)


class _EmptyQueueParser(NameParser):
    def queue_name_lengths(self) -> tuple[int, int]:
        return 0, super().queue_name_lengths()[1]


class AcceptsEmptyQueueName(Fault):
    """A queue's name may be empty: what stands before and behind it is enough."""

    name = "accepts-empty-queue-name"
    breaks = (
        "MQMQ-2.1.1.queue-name-missing",
        "MQMQ-2.1.2.queue-name-missing",
    )
    replaces = ("names", _EmptyQueueParser)


class _BackslashParser(NameParser):
    def name_characters(self) -> str:
        return super().name_characters() + r"\\"


class AcceptsBackslashInQueueName(Fault):
    """A backslash is taken for an ordinary character of a queue's name once its scope is known."""

    name = "accepts-backslash-in-queue-name"
    breaks = (
        "MQMQ-2.1.1.queue-name-backslash-reject",
        "MQMQ-2.1.2.queue-name-reject",
    )
    replaces = ("names", _BackslashParser)


class _FirstVersionParser(NameParser):
    def name_characters(self) -> str:
        return super().name_characters() + '\\+,"'


class KeepsAlphabetOfVersion1(Fault):
    """Queue names are still spelled as in MSMQ 1.0, with plus sign, comma and double quote."""

    name = "keeps-alphabet-of-version-1"
    breaks = (
        "MQMQ-2.1.1.queue-name-plus-reject",
        "MQMQ-2.1.1.queue-name-comma-reject",
        "MQMQ-2.1.1.queue-name-quote-reject",
        "MQMQ-2.1.2.queue-name-reject",
    )
    replaces = ("names", _FirstVersionParser)


class _NoTildeParser(NameParser):
    def name_characters(self) -> str:
        return super().name_characters().replace("\\x7E", "\\x7D")


class RefusesTildeInQueueName(Fault):
    """The last printable character is left out of the alphabet of queue names."""

    name = "refuses-tilde-in-queue-name"
    breaks = ("MQMQ-2.1.1.queue-name-alphabet",)
    replaces = ("names", _NoTildeParser)


class _NoSubqueueParser(NameParser):
    def subqueues(self) -> bool:
        return False


class RefusesSubqueues(Fault):
    """Names of subqueues are refused, as before MSMQ 4.0."""

    name = "refuses-subqueues"
    breaks = (
        "MQMQ-2.1.1.subqueue",
        "MQMQ-2.1.2.subqueue",
    )
    replaces = ("names", _NoSubqueueParser)


class _LongSubqueueParser(NameParser):
    def longest_subqueue_name(self) -> int:
        return 124


class AcceptsLongSubqueueName(Fault):
    """A subqueue's name may be as long as a queue's."""

    name = "accepts-long-subqueue-name"
    breaks = ("MQMQ-2.1.1.subqueue-too-long",)
    replaces = ("names", _LongSubqueueParser)


class _SystemAsSubqueueParser(NameParser):
    def path(self, text: str) -> Name:
        found = super().path(text)
        if found.parts["scope"] != "system":
            return found
        keyword = text.partition("\\")[2].partition(";")[0]
        queue = {"scope": "public", "queue": keyword, "subqueue": found.parts["queue"]}
        return Name(text, found.kind, found.parts | queue)


class TakesSystemQueueForSubqueue(Fault):
    """`system$` in a path name is taken for a public queue, and the system queue for a subqueue of it."""

    name = "takes-system-queue-for-subqueue"
    breaks = (
        "MQMQ-2.1.1.parts",
        "MQMQ-2.1.1.system-path",
    )
    replaces = ("names", _SystemAsSubqueueParser)


class _NulParser(NameParser):
    def parse(self, text: str, form: str) -> Name:
        return super().parse(text.partition("\0")[0], form)

    def path(self, text: str) -> Name:
        return super().path(text.partition("\0")[0])

    def format_name(self, text: str) -> Name:
        return super().format_name(text.partition("\0")[0])


class CutsNamesAtNul(Fault):
    """A name ends at the first NUL, whatever stands behind it."""

    name = "cuts-names-at-nul"
    breaks = (
        "MQMQ-2.1.1.queue-name-control-reject",
        "MQMQ-2.1.2.queue-name-reject",
        "MQMQ-2.1.3.trailing-reject",
        "MQMQ-2.1.4.number-reject",
        "MQMQ-2.1.5.domain-alphabet-reject",
    )
    replaces = ("names", _NulParser)


class _LeavingQueues(Queues):
    def create(self, path_name: str, given: dict[str, Json]) -> str:
        try:
            return super().create(path_name, given)
        except MqError:
            computer, scope, queue = path_name.rpartition("\\")
            if len(queue) > 124:
                super().create(computer + scope + queue[:124], given)
            raise


class LeavesQueueOfRefusedName(Fault):
    """Creation under a name that is too long fails, yet leaves a queue under as much of it as fits."""

    name = "leaves-queue-of-refused-name"
    breaks = ("MQDMPR-3.1.7.1.3.invalid-path-name-no-queue",)
    replaces = ("queues", _LeavingQueues)
