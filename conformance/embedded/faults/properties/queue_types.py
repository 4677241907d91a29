"""Faults of what a get tells of a queue: values of another type, and values that mean another thing (MS-MQMQ 2.3.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from conformance.embedded.faults.base import row
from conformance.embedded.queues import Queues

Json = Any
Telling = Callable[[Queues, Json], Json]


class _Telling(Queues):
    told: ClassVar[Mapping[str, Telling]] = {}

    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        found = super().get(format_name, names)
        return {name: self.told[name](self, value) if name in self.told else value for name, value in found.items()}


def _as_text(queues: Queues, value: Json) -> Json:
    return str(value)


def _nothing(queues: Queues, value: Json) -> Json:
    return None


def _signed(queues: Queues, value: Json) -> Json:
    return value - (1 << 32) if value > 0x7FFFFFFF else value


def _computer(queues: Queues, value: Json) -> Json:
    return queues.manager.computer


def _address_as_number(queues: Queues, value: Json) -> Json:
    octets = (value or "0.0.0.0:0").partition(":")[0].split(".")
    return int.from_bytes(map(int, octets), "big")


def _inverted(queues: Queues, value: Json) -> Json:
    return 1 - value


def _none_and_body(queues: Queues, value: Json) -> Json:
    return 2 - value


def _none(queues: Queues, value: Json) -> Json:
    return 0


def _beyond(queues: Queues, value: Json) -> Json:
    return 2


def _numeric_host(queues: Queues, value: Json) -> Json:
    return "192.0.2.7\\" + str(value).partition("\\")[2]


def _ldap(queues: Queues, value: Json) -> Json:
    return "LDAP://server/CN=queue,CN=msmq,CN=HOST,DC=example"


def _slashes(queues: Queues, value: Json) -> Json:
    return str(value).replace("\\", "/")


# The name, the story, what the text says of it, what a get tells, and of which properties.
_FAULTS: tuple[tuple[str, str, tuple[str, ...], Telling, tuple[str, ...]], ...] = (
    (
        "flags-told-as-text",
        "Journaling, authentication, transaction level and scope of a queue are told as text.",
        (
            "MQMQ-2.3.1.4.propid-q-journal",
            "MQMQ-2.3.1.11.propid-q-authenticate",
            "MQMQ-2.3.1.13.propid-q-transaction",
            "MQMQ-2.3.1.14.propid-q-scope",
        ),
        _as_text,
        ("JOURNAL", "AUTHENTICATE", "TRANSACTION", "SCOPE"),
    ),
    (
        "levels-told-as-text",
        "Privacy level and base priority of a queue are told as text.",
        ("MQMQ-2.3.1.12.propid-q-priv-level", "MQMQ-2.3.1.6.propid-q-basepriority"),
        _as_text,
        ("PRIV_LEVEL", "BASEPRIORITY"),
    ),
    (
        "quotas-told-signed",
        "Quotas of a queue are told as signed numbers: an unlimited one is -1.",
        ("MQMQ-2.3.1.5.propid-q-quota", "MQMQ-2.3.1.7.propid-q-journal-quota"),
        _signed,
        ("QUOTA", "JOURNAL_QUOTA"),
    ),
    (
        "times-told-as-text",
        "The times of a queue are told as text.",
        ("MQMQ-2.3.1.9.propid-q-create-time", "MQMQ-2.3.1.10.propid-q-modify-time"),
        _as_text,
        ("CREATE_TIME", "MODIFY_TIME"),
    ),
    (
        "identifiers-told-as-computer",
        "The name of the computer is told where an identifier of a queue, its type or its manager belongs.",
        (
            "MQMQ-2.3.1.1.propid-q-instance",
            "MQMQ-2.3.1.2.propid-q-type",
            "MQMQ-2.3.1.15.propid-q-qmid",
        ),
        _computer,
        ("INSTANCE", "TYPE", "QMID"),
    ),
    (
        "texts-told-as-nothing",
        "Label, path names and directory path of a queue are told as nothing at all.",
        (
            "MQMQ-2.3.1.3.propid-q-pathname",
            "MQMQ-2.3.1.8.propid-q-label",
            "MQMQ-2.3.1.22.propid-q-pathname-dns",
            "MQMQ-2.3.1.24.propid-q-ads-path",
        ),
        _nothing,
        ("PATHNAME", "LABEL", "PATHNAME_DNS", "ADS_PATH"),
    ),
    (
        "multicast-address-told-as-number",
        "The multicast address of a queue is told as the number of its IP address.",
        ("MQMQ-2.3.1.23.propid-q-multicast-address",),
        _address_as_number,
        ("MULTICAST_ADDRESS",),
    ),
    (
        "journal-told-inverted",
        "A queue that journals says that it does not, and the other way round.",
        ("MQMQ-2.3.1.4.mq-journal-none", "MQMQ-2.3.1.4.mq-journal", "MQDMPR-3.1.7.1.33.default-journaling"),
        _inverted,
        ("JOURNAL",),
    ),
    (
        "authentication-told-inverted",
        "A queue that asks for authentication says that it does not, and the other way round.",
        (
            "MQMQ-2.3.1.11.mq-authenticate-none",
            "MQMQ-2.3.1.11.mq-authenticate",
            "MQDMPR-3.1.7.1.33.default-authentication",
        ),
        _inverted,
        ("AUTHENTICATE",),
    ),
    (
        "privacy-none-and-body-swapped",
        "A queue for messages in the clear says that it is for encrypted ones, and the other way round.",
        (
            "MQMQ-2.3.1.12.mq-priv-level-none",
            "MQMQ-2.3.1.12.mq-priv-level-body",
            "MQDMPR-3.1.7.1.3.attribute-privacy-level",
        ),
        _none_and_body,
        ("PRIV_LEVEL",),
    ),
    (
        "transactional-queue-says-not",
        "A transactional queue says that it is not.",
        ("MQMQ-2.3.1.13.mq-transactional", "MQDMPR-3.1.7.1.3.attribute-transactional"),
        _none,
        ("TRANSACTION",),
    ),
    (
        "scope-told-beyond-range",
        "The scope of a queue is told as a number that is no scope.",
        ("MQMQ-2.3.1.14.values", "MQDMPR-3.1.1.2.scope-enterprise", "MQDMPR-3.1.7.1.3.scope"),
        _beyond,
        ("SCOPE",),
    ),
    (
        "dns-path-name-has-address",
        "The DNS path name of a queue begins with an IP address.",
        ("MQMQ-2.3.1.22.path-name", "MQDMPR-3.1.7.1.3.qualified-pathname"),
        _numeric_host,
        ("PATHNAME_DNS",),
    ),
    (
        "dns-path-name-has-slashes",
        "The DNS path name of a queue has slashes for its backslashes.",
        ("MQMQ-2.3.1.22.path-name", "MQDMPR-3.1.7.1.3.qualified-pathname"),
        _slashes,
        ("PATHNAME_DNS",),
    ),
    (
        "private-queue-has-directory-path",
        "A private queue tells the path of an object in a directory.",
        ("MQDMPR-3.1.7.1.3.directory-path-empty",),
        _ldap,
        ("ADS_PATH",),
    ),
)

for _name, _story, _breaks, _change, _properties in _FAULTS:
    _told = {f"PROPID_Q_{_property}": _change for _property in _properties}
    row(__name__, "queues", _name, _story, _breaks, subclass_of=_Telling, told=_told)
