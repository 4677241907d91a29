"""Packets with a certificate: what compiled code leaves open of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.capture.columns.reader import Rows
from conformance.judge.columns.outcomes import signature_rules
from conformance.judge.packets import judge_dissected, rules_of
from conformance.judge.signatures import CERTIFICATE
from conformance.replay.sums import Key, Meaning, key_of
from conformance.wire import dissect
from conformance.wire.certificates import read_certificate
from conformance.wire.columns.table import ColumnSet

Judged = tuple[tuple[str, Key], ...]
"""What rules say, each with its id."""
_MOST_KEPT = 1 << 10
_ORDER = {rule.id: at for at, rule in enumerate(rules_of("tcp"))}
_REQUIREMENTS = frozenset(rule.requirement for rule in rules_of("tcp") if rule.id in signature_rules())


def with_rules(before: Meaning, judged: Judged) -> Meaning:
    """What all rules say: those about certificates and signatures this, the others what they said before."""
    parts = [one for one in zip(before.rules, before.keys, strict=True) if one[0] not in signature_rules()]
    parts = sorted([*parts, *judged], key=lambda one: _ORDER[one[0]])
    return Meaning(tuple(rule for rule, _ in parts), tuple(key for _, key in parts))


class Certificates:
    """Judges by the rules about certificates and signatures."""

    def __init__(self, columns: ColumnSet, profile: str, readings: Mapping[str, tuple[str, ...]], level: str) -> None:
        self._column = columns.columns.get(CERTIFICATE)
        self._profile, self._readings, self._level = profile, readings, level
        self._unreadable: dict[tuple[int, bytes], Judged] = {}

    def judged(self, columns: Any, row: int, outcome: int, rows: Rows) -> Judged:
        """What these rules say of a packet. columns, row: its values. outcome: its number. rows: what it is one of."""
        der = self._certificate(columns, row, rows)
        known = self._unreadable.get((outcome, der)) if der is not None else None
        if known is not None:
            return known
        verdicts = judge_dissected(
            dissect(rows.data(row), transport="tcp"),
            profile=self._profile,
            readings=self._readings,
            level=self._level,
            only=_REQUIREMENTS,
        )
        out = tuple((one.rule, key_of(one)) for one in verdicts if one.rule in signature_rules())
        if der is not None and read_certificate(der).why and len(self._unreadable) < _MOST_KEPT:
            # No signature is checked: the outcome tells what is asked besides whether this is a certificate.
            self._unreadable[outcome, der] = out
        return out

    def _certificate(self, columns: Any, row: int, rows: Rows) -> bytes | None:
        column = self._column
        if column is None or not columns[column.flags, row] >> column.bit & 1:
            return None
        at = int(columns[column.at, row])
        return bytes(rows.buffer[at : at + int(columns[column.at + 1, row])])
