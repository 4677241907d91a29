"""Tells whether a text in a packet is a direct format name (MS-MQMQ 2.1.2), by the grammar of that section.

Packets of every MSMQ version are judged alike, so a name that one version, or one reading of the grammar, derives is
accepted.
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
def is_direct(text: str) -> bool:
    """Return True for a direct format name, with or without `DIRECT=`."""
    if len(text) > MOST:
        return False
    name = text if text[: len(PREFIX)].upper() == PREFIX else PREFIX + text
    return any(_derives(names, name) for names in _grammars())


def _derives(names: Names, name: str) -> bool:
    from conformance.grammar.names import NameError_

    try:
        names.format_name(name)
    except NameError_:
        return False
    return True


@cache
def _grammars() -> tuple[Names, ...]:
    from conformance.grammar.names import bulk

    return (bulk("4.0"), bulk("1.0"), bulk("4.0", _LOOSE), bulk("1.0", _LOOSE))
