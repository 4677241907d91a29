"""Judge packets with a certificate by the rules that compiled code leaves undecided."""

from __future__ import annotations

from typing import Any

from conformance.capture.columns.reader import Rows
from conformance.captures.followed import Key, key_of
from conformance.captures.meanings import Meaning
from conformance.captures.packet_rules import PacketRules
from conformance.judge.columns.outcomes import signature_rules
from conformance.judge.packets.certificate_keys import key_facts
from conformance.judge.packets.judge import judge_dissected, rules_of
from conformance.judge.packets.signatures import CERTIFICATE
from conformance.wire import dissect
from conformance.wire.certificates import read_certificate
from conformance.wire.columns.table import ColumnSet

Judged = tuple[tuple[str, Key], ...]
"""The results of rules, each with the rule's id."""
_ORDER = {rule.id: at for at, rule in enumerate(rules_of("tcp"))}
_REQUIREMENTS = frozenset(rule.requirement for rule in rules_of("tcp") if rule.id in signature_rules())


def with_rules(before: Meaning, judged: Judged) -> Meaning:
    """Return the results of all rules: `judged` for those about certificates and signatures, the others as before."""
    parts = [one for one in zip(before.rules, before.keys, strict=True) if one[0] not in signature_rules()]
    parts = sorted([*parts, *judged], key=lambda one: _ORDER[one[0]])
    return Meaning(tuple(rule for rule, _ in parts), tuple(key for _, key in parts))


class Certificates:
    """Judges by the rules about certificates and signatures."""

    def __init__(self, columns: ColumnSet, rules: PacketRules) -> None:
        self._column = columns.columns.get(CERTIFICATE)
        self._rules = rules

    def judged(self, data: bytes) -> Judged:
        """Return the results of these rules for a packet."""
        verdicts = judge_dissected(
            dissect(data, transport="tcp"),
            profile=self._rules.profile,
            readings=self._rules.readings,
            level=self._rules.level,
            only=_REQUIREMENTS,
        )
        return tuple((one.rule, key_of(one)) for one in verdicts if one.rule in signature_rules())

    def kind(self, columns: Any, row: int, rows: Rows) -> str:
        """Return a key shared by packets of one outcome that get the same results; empty to judge a packet itself.

        A certificate that cannot be read checks no signature: the outcome has all else that the rules ask. columns,
        row: values of the packet.
        """
        column = self._column
        if column is None or not columns[column.flags, row] >> column.bit & 1:
            return ""
        at = int(columns[column.at, row])
        certificate = read_certificate(rows.buffer[at : at + int(columns[column.at + 1, row])].tobytes())
        return f"no key, {certificate.x509}, {key_facts(certificate.bits)}" if certificate.why else ""
