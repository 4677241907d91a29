"""Faults of the parser of queue names: computers, queues and subqueues, their lengths and alphabets (MS-MQMQ 2.1.1)."""

from __future__ import annotations

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import also, fault
from conformance.embedded.names import Name, NameParser
from conformance.embedded.queues import Queues


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
