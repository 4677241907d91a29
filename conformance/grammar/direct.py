"""Tells whether a text in a packet is a direct format name (MS-MQMQ 2.1.2), by the grammar of that section.

A name that one version, or one reading of the grammar, derives is accepted, unless the later versions alone are asked.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.grammar.bulk import Names

PREFIX = "DIRECT="
MOST = 4096
"""The longest text, in characters, that is parsed; no derived name is half as long."""
# The alternatives that derive more than the defaults do.
_LOOSE = {
    "R-MQMQ-computer-alphabet": "any-printable",
    "R-MQMQ-journal-of-subqueue": "accepted",
    "R-MQMQ-http-future-address": "any",
    "R-MQMQ-http-port-range": "accepted",
    "R-MQMQ-comma": "belongs",
}


@lru_cache(maxsize=1 << 12)
def is_direct(text: str, late: bool = False) -> bool:
    """Return True for a direct format name, with or without `DIRECT=`.

    late: as MSMQ 2.0 and later have it, whose queues have no plus, comma or quote in their names.
    """
    if len(text) > MOST:
        return False
    name = text if text[: len(PREFIX)].upper() == PREFIX else PREFIX + text
    return any(_derives(names, name) for names in _grammars(late))


def is_format_name(text: str) -> bool:
    """Return True for a format name of any kind (MS-MQMQ 2.1), and for a direct one without `DIRECT=`."""
    return is_direct(text) or (len(text) <= MOST and any(_derives(names, text) for names in _grammars(False)))


def _derives(names: Names, name: str) -> bool:
    from conformance.grammar.names import NameError_

    try:
        names.format_name(name)
    except NameError_:
        return False
    return True


@cache
def _grammars(late: bool) -> tuple[Names, ...]:
    from conformance.grammar.names import bulk

    versions = ("4.0",) if late else ("4.0", "1.0")
    return (*map(bulk, versions), *(bulk(version, _LOOSE) for version in versions))
