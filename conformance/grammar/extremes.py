"""Two grammars that bound names under all readings: texts that are names under every reading, or under any.

`widest` derives each text that some choice of readings accepts as a name, `narrowest` only texts that all of them
accept. Neither is the language of a choice of readings, so nothing is parsed with them: they prove that a text is a
name, or is not, whatever the readings. Both treat keywords as ordinary words (excluding them costs a hundred times as
much): `holds_keyword` detects the texts for which that matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from conformance.grammar.abnf import Grammar, read_parts
from conformance.grammar.sources import load

__all__ = ["KEYWORDS", "NARROW", "WIDE", "holds_keyword", "narrowest", "ordinary", "widest"]

KEYWORDS = ("private$", "system$", "journal", "deadletter", "deadxact", "xactonly")

WIDE: Mapping[str, str] = MappingProxyType(
    {
        "R-MQMQ-computer-alphabet": "any-printable",
        "R-MQMQ-queue-name-alphabet": "unicode",
        "R-MQMQ-subqueue-length": "up-to-32",
        "R-MQMQ-suffix-or-subqueue": "subqueue",
        "R-MQMQ-journal-of-subqueue": "accepted",
        "R-MQMQ-public-journal": "accepted",
        "R-MQMQ-machine-suffix": "required",
        "R-MQMQ-connector-suffix": "optional",
        "R-MQMQ-port": "all",
        "R-MQMQ-port-zeros": "accepted",
        "R-MQMQ-http-separator": "backslash",
        "R-MQMQ-ipx": "either",
        "R-MQMQ-comma": "belongs",
        "R-MQMQ-single-element": "one-or-more",
        "R-MQMQ-read-only-element": "opened",
        "R-MQMQ-system-path": "any",
        "R-MQMQ-tcp-ipv6": "both",
        "R-MQMQ-http-port-empty": "accepted",
        "R-MQMQ-http-port-range": "accepted",
        "R-MQMQ-http-future-address": "any",
    }
)
NARROW: Mapping[str, str] = MappingProxyType(
    {
        "R-MQMQ-computer-alphabet": "separators-excluded",
        "R-MQMQ-queue-name-alphabet": "letter",
        "R-MQMQ-subqueue-length": "up-to-31",
        "R-MQMQ-suffix-or-subqueue": "subqueue",
        "R-MQMQ-journal-of-subqueue": "refused",
        "R-MQMQ-public-journal": "refused",
        "R-MQMQ-machine-suffix": "required",
        "R-MQMQ-connector-suffix": "none",
        "R-MQMQ-port": "letter",
        "R-MQMQ-port-zeros": "refused",
        "R-MQMQ-http-separator": "backslash",
        "R-MQMQ-ipx": "neither",
        "R-MQMQ-comma": "separates",
        "R-MQMQ-single-element": "two-or-more",
        "R-MQMQ-read-only-element": "parsed",
        "R-MQMQ-system-path": "three",
        "R-MQMQ-tcp-ipv6": "ipv4",
        "R-MQMQ-http-port-empty": "refused",
        "R-MQMQ-http-port-range": "refused",
        "R-MQMQ-http-future-address": "refused",
    }
)

# Readings whose alternatives each accept texts that the other rejects. The C1 controls are in neither alphabet, but the
# reading does not exclude them from "characters outside ASCII", nor surrogates.
_WIDER = r"""
PlainChar = %x20-21 / %x23-2A / %x2D-3A / %x3C-5B / %x5D-10FFFF
WebSeparator = "\" / "/"
Machine = "MACHINE=" Guid [";" MachineQueue]
"""
_NARROWER = r"""
PlainChar = %x21 / %x23-2A / %x2D-3A / %x3C-5B / %x5D-7E
PrivateQueuePath = "DIRECT=" Location "\PRIVATE$\" DirectQueue
PublicQueuePath = "DIRECT=" Location "\" DirectQueue
MachineQueuePath = "DIRECT=" Location "\SYSTEM$;" MachineQueue
SingleFormatName = FormatName
WritableDirect = "DIRECT=" Location "\" ["PRIVATE$\"] WritableQueue
"""


@cache
def widest(version: str = "4.0") -> Grammar:
    """Return a grammar with every text that some choice of readings accepts as a name of an MSMQ version."""
    return _with(load(version, WIDE), _WIDER, f"names {version}, any reading")


@cache
def narrowest(version: str = "4.0") -> Grammar:
    """Return a grammar of names of an MSMQ version that all readings accept, unless `holds_keyword`."""
    return _with(load(version, NARROW), _NARROWER, f"names {version}, all readings")


@cache
def ordinary(version: str = "4.0") -> Grammar:
    """Return `narrowest` with only the usual HTTP and machine names: the base of near misses."""
    whole = load(version, NARROW)
    kept = (whole.rule(name) for name in ("PrivateQueuePath", "PublicQueuePath", "SingleFormatName"))
    slash = read_parts('WebSeparator = "/"\n', where="ordinary names")
    return narrowest(version).with_rules((*kept, *slash), where=f"names {version}, ordinary ones")


def holds_keyword(text: str) -> bool:
    """Return True when a name has a word that one of the readings reserves and another does not."""
    return any(word in text.casefold() for word in KEYWORDS)


def _with(grammar: Grammar, rules: str, where: str) -> Grammar:
    return grammar.with_rules(read_parts(rules, where=where), where=where)
