"""Judges the bytes of one packet (`judge_packet`): a verdict for every rule that applies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property, lru_cache
from itertools import chain, compress
from operator import itemgetter
from typing import Any

from conformance.grammar.queue_format import is_direct
from conformance.judge.packets import (
    rules_appended,
    rules_base,
    rules_causes,
    rules_lists,
    rules_security,
    rules_signatures,
    rules_user,
)
from conformance.judge.packets.diagnosis import Cause, Search, blamed, cause_of, shortened
from conformance.judge.packets.message_facts import CAUSE, envelope_facts, facts_on_names, is_told_of
from conformance.judge.packets.packet_verdicts import Judged, Later, Pattern, Told
from conformance.judge.packets.signatures import WHY, signature_facts
from conformance.judge.rules import DECIDED, Expr, Fields, Known, Rule, Run, compiled, describe, keys_in, together
from conformance.spec.catalogue import assignment, reading_id, requirement
from conformance.spec.followed_readings import either
from conformance.spec.versions import LEVELS
from conformance.verdict import Evidence, Outcome, Verdict, of_frame
from conformance.wire import Packet, dissect
from conformance.wire.elements import MAX_SHOWN as MAX_ELEMENTS
from conformance.wire.headers import LISTS, SESSION_HEADER_SIZE

_ALL: tuple[Rule, ...] = (
    *rules_base.BASE_RULES,
    *rules_user.USER_RULES,
    *rules_user.HOST_RULES,
    *rules_base.PROPERTIES_RULES,
    *rules_security.SECURITY_RULES,
    *rules_signatures.SENDER_RULES,
    *rules_signatures.SIGNATURE_RULES,
    *rules_security.CERTIFICATE_RULES,
    *rules_security.ENCRYPTION_RULES,
    *rules_lists.OPTIONAL_RULES,
    *rules_lists.LIST_RULES,
    *rules_user.NAME_RULES,
    *rules_causes.CAUSE_RULES,
)
# What MS-MQDMPR says of the values of a message is often said of its bytes by MS-MQMQ, too: that is told first. What a
# value of a field means comes last, behind the demand that the field agrees with what it is about.
_OF_VALUES = "MQDMPR-"
_MQRR = "MQRR-"
_MEANING = ("MQMQ-2.2.19.3.hash-", "MQMQ-2.2.19.3.encryption-rc", "MQMQ-2.2.19.3.encryption-aes")
_LISTED = "MQMQ-2.2.19.3.hash-algorithm"


def _rank(rule: Rule) -> int:
    name = rule.requirement
    return 2 if name.startswith(_MEANING) and name != _LISTED else int(name.startswith(_OF_VALUES))


RULES: tuple[Rule, ...] = tuple(sorted(_ALL, key=_rank))
# Rules of MS-MQRR 2.2.5. They judge the headers of its own wherever a packet shows them.
REMOTE_RULES: tuple[Rule, ...] = (*rules_appended.HTTP_RULES, *rules_appended.APPENDED_RULES)
ALL_RULES: tuple[Rule, ...] = (*RULES, *REMOTE_RULES)
# Deviations from MS-MQMQ that MS-MQRR 2.2.5 allows in a message that is read remotely; 2.2.5.1 has the sender's address
# in QueueManagerAddress of a message to a direct format name.
REMOTE_EXCEPTIONS = frozenset(
    {"MQMQ-2.2.19.2.http-flag", "MQMQ-2.2.19.1.packet-size-headers", "MQMQ-2.2.19.2.address-direct"}
)
# What MS-MQRR 2.2.5.1 has in the place of two fields of MS-MQMQ, in such a message alone.
REMOTE_ONLY = frozenset(
    f"MQRR-2.2.5.1.{word}" for word in ("time-to-reach-queue", "address-type", "address-length", "address-scope")
)
TRANSPORTS = ("tcp", "udp", "buffer", "remote")
MAX_SHOWN = 64  # the most bytes of a field that a verdict quotes
MAX_TEXT = 1024  # the most characters of one
Readings = Mapping[str, tuple[str, ...]]


class Result(Enum):
    """The result of a rule on a packet."""

    NOT_APPLICABLE = "not-applicable"
    HOLDS = "holds"
    BROKEN = "broken"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class PacketFinding:
    """A rule's result. alternative: the one of its reading that the packet follows; empty when it does not matter.

    first: the alternative is the default of the reading.
    """

    result: Result
    alternative: str = ""
    first: bool = True


class _Ready:
    """A rule prepared to run. Its ids are checked at once, its trees are compiled on first use."""

    def __init__(self, rule: Rule) -> None:
        if rule.reading is not None:
            reading_id(rule.reading)
        self.rule, self.requirement = rule, requirement(rule.requirement)

    @cached_property
    def applies(self) -> Run:
        return compiled(self.rule.applies)

    @cached_property
    def holds(self) -> Mapping[str, Run]:
        return {name: compiled(tree) for name, tree in self.rule.alternatives().items()}

    @cached_property
    def expected(self) -> Mapping[str, str]:
        """Each of its trees as text, for a verdict."""
        return {name or "holds": describe(tree) for name, tree in self.rule.alternatives().items()}

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key for tree in self.rule.alternatives().values() for key in keys_in(tree)))


_EACH: tuple[_Ready, ...] = tuple(_Ready(rule) for rule in ALL_RULES)
_READY: tuple[_Ready, ...] = tuple(ready for ready in _EACH if ready.rule.requirement not in REMOTE_ONLY)
_READY_REMOTE: tuple[_Ready, ...] = tuple(ready for ready in _EACH if ready.rule.requirement not in REMOTE_EXCEPTIONS)


def judge_packet(
    data: bytes,
    *,
    profile: str,
    readings: Readings | str = "windows",
    transport: str = "tcp",
    level: str = "must",
    subject: str | None = None,
    evidence: Evidence | None = None,
    explain: bool = True,
) -> list[Verdict]:
    """Judge one packet: a verdict for each rule that applies to it.

    data: the whole packet. readings: reading id to accepted alternatives, the default first, or the name of a reading
    set. transport: `tcp` (the recorder may have cut the bytes short), `buffer` (the bytes are complete), `remote`
    (complete, as MS-MQRR 2.2.5 hands a message over) or `udp` (a Ping; it has no rules here). level: a broken
    requirement weaker than this is a warning. subject: words for the verdicts; default the packet's kind. explain: as
    in `judge_dissected`. Raises ValueError for an unknown transport or level, never for the bytes.
    """
    if transport not in TRANSPORTS:
        raise ValueError(f"Unknown transport '{transport}' (one of: {', '.join(TRANSPORTS)})")
    packet = dissect(data, transport=transport)
    return list(
        judge_dissected(
            packet,
            profile=profile,
            readings=readings,
            transport=transport,
            level=level,
            subject=subject,
            evidence=evidence,
            explain=explain,
        )
    )


def judge_dissected(
    packet: Packet,
    *,
    profile: str,
    readings: Readings | str = "windows",
    transport: str = "tcp",
    level: str = "must",
    subject: str | None = None,
    evidence: Evidence | None = None,
    only: Collection[str] | None = None,
    frame: int | None = None,
    explain: bool = True,
    search: Search | None = None,
) -> Sequence[Verdict]:
    """Judge a decoded packet, as `judge_packet` does. only: the requirements to judge; None for all. explain: find the
    one deviation that explains an odd packet (`causes`), and tell what follows from it as inconclusive.

    frame: as in `Verdict`; it names the subject where none is given. search: what that may still cost.
    """
    if transport == "udp" or "Packet.Kind" not in packet.fields or packet.has("Ping"):
        return []
    accepted = _accepted(readings) if isinstance(readings, str) else readings
    fields = _without_cause(packet, transport)
    failing = _Failing(transport)
    cause = _cause(packet, fields, transport, failing, search) if explain else None
    fields[CAUSE] = cause.requirement if cause else ""
    subject = subject or (packet.kind if frame is None else of_frame(frame))
    troubled = explain and bool(cause or packet.trouble)
    plan = _plan(profile, level, transport == "remote", None if only is None or troubled else frozenset(only))

    pattern, ends = plan.pattern(fields, accepted)

    def verdict(at: int) -> Verdict:
        return _verdict(*ends[at], fields, subject, evidence, packet, frame)

    verdicts = Judged(pattern, subject, evidence, frame, Later(pattern.others, verdict))
    if cause is not None:
        right, _ = plan.pattern(failing.facts(cause.packet), accepted)
        verdicts = blamed(verdicts, right, cause.requirement, weak=_weak(cause.requirement, level))
    elif troubled:
        verdicts = shortened(verdicts)
    if only is None or not troubled:
        return verdicts
    return [verdict for verdict in verdicts if verdict.requirement in only]


def find(rule: Rule, packet: Packet, *, readings: Readings | str = "windows", transport: str = "tcp") -> PacketFinding:
    """Return the result of one rule on one packet."""
    accepted = _accepted(readings) if isinstance(readings, str) else readings
    return _find(_Ready(rule), facts(packet, transport), accepted)


def facts(packet: Packet, transport: str, *, explain: bool = True) -> dict[str, Any]:
    """Return the decoded fields, the facts that follow from the transport, and what explains an odd packet.

    explain: False leaves out the last.
    """
    fields = _without_cause(packet, transport)
    cause = _cause(packet, fields, transport, _Failing(transport)) if explain else None
    fields[CAUSE] = cause.requirement if cause else ""
    return fields


def _cause(
    packet: Packet, fields: Fields, transport: str, failing: _Failing, search: Search | None = None
) -> Cause | None:
    """Return what explains an odd packet that the recorder has not cut."""
    if transport == "tcp" and any(trouble.code == "truncated" for trouble in packet.trouble):
        return None
    return cause_of(packet, fields, failing, search)


class _Failing:
    """Returns the requirements of a level that a packet breaks under a set of readings. transport: of all packets."""

    def __init__(self, transport: str) -> None:
        self.transport = "remote" if transport == "remote" else "buffer"
        self._facts: dict[int, tuple[Packet, dict[str, Any]]] = {}

    def __call__(self, packet: Packet, readings: str, level: str) -> frozenset[str]:
        return _level(level, self.transport == "remote").broken(self.facts(packet), _accepted(readings))

    def remote(self, packet: Packet, readings: str, level: str) -> frozenset[str]:
        """Return those of MS-MQRR alone."""
        plan = _level(level, self.transport == "remote", _MQRR)
        return plan.broken(self.facts(packet), _accepted(readings))

    def facts(self, packet: Packet) -> dict[str, Any]:
        """Return the fields and facts of a packet that was not cut, of which no cause is known."""
        known = self._facts.get(id(packet))
        if known is None:
            known = self._facts[id(packet)] = packet, {**_without_cause(packet, self.transport), CAUSE: ""}
        return known[1]


def _weak(name: str, level: str) -> bool:
    return LEVELS.index(requirement(name).level) > LEVELS.index(level)


def _without_cause(packet: Packet, transport: str) -> dict[str, Any]:
    """Return the decoded fields with the facts that follow from the transport.

    `Packet.Decided`: an absent field is absent, not merely unread. `Packet.Overrun`: the field in which the packet
    ended; empty when it ended in none. `Packet.Counted`: the number of bytes that PacketSize should count, without a
    SessionHeader behind them; absent when the recorder may have cut the bytes short. A signed packet also has
    `signature_facts`, and any message `facts_on_names`. Of a list of names: `KEY.Misspelled`, how many direct names in
    it the grammar does not derive, `KEY.Outdated`, how many only that of MSMQ 1.0 does.
    """
    fields: dict[str, Any] = dict(packet.fields)
    if packet.has("SecurityHeader"):
        fields.update(signature_facts(packet))
    if packet.has("SRMPEnvelopeHeader"):
        fields.update(envelope_facts(packet))
    if is_told_of(fields):
        fields.update(facts_on_names(packet))
    complete = transport != "tcp"
    cut = any(trouble.code == "truncated" for trouble in packet.trouble)
    stopped = {trouble.code for trouble in packet.trouble} & {"queue-type", "size", "signature", "packet-size"}
    stopped |= {trouble.code for trouble in packet.trouble} & {"packet-type"}
    fields[DECIDED] = not stopped and (complete or not cut)
    if complete or not cut:
        behind = packet.fields.get("Packet.SessionHeaderPlacement") == "after" and _SESSION_END in packet.fields
        # It may be there, and not be reached by decoding.
        rest = len(packet.data) - int(packet.fields.get(_SIZE, 0))
        behind = behind or (rest == SESSION_HEADER_SIZE and bool(packet.trouble) and _announced(packet))
        fields["Packet.Counted"] = len(packet.data) - (SESSION_HEADER_SIZE if behind else 0)
        over = [t.field for t in packet.trouble if t.code in ("overrun", "truncated") and t.field != _SIZE]
        fields["Packet.Overrun"] = over[0] if over else ""
    for name in LISTS if packet.has("MultiQueueFormatHeader") else ():
        key = f"MultiQueueFormatHeader.{name}.FormatNameList"
        if fields.get(f"{key}.Of3"):
            inner = (f"{key}.{at}.DirectFormatName" for at in range(min(MAX_ELEMENTS, fields[f"{key}.Elements"])))
            names = [fields[one] for one in inner if one in fields]
            fields[f"{key}.Misspelled"] = sum(not is_direct(one) for one in names)
            fields[f"{key}.Outdated"] = sum(is_direct(one) and not is_direct(one, True) for one in names)
    return fields


_SIZE, _SESSION_END = "BaseHeader.PacketSize", "SessionHeader.Reserved"


def _announced(packet: Packet) -> bool:
    """Tell whether a message announces a SessionHeader."""
    return packet.fields.get("BaseHeader.Flags.SH") == 1 and packet.fields.get("BaseHeader.Flags.IN") == 0


def _find(ready: _Ready, fields: Fields, accepted: Readings) -> PacketFinding:
    # A rule whose condition is unknown does not apply: decoding stopped before the header it is about.
    return _decided(ready, fields, accepted) if ready.applies(fields) else PacketFinding(Result.NOT_APPLICABLE)


def _decided(ready: _Ready, fields: Fields, accepted: Readings) -> PacketFinding:
    """Return the result of a rule that applies."""
    return decide(ready.rule, {name: _result(run(fields)) for name, run in ready.holds.items()}, accepted)


def decide(rule: Rule, results: Mapping[str, Result], accepted: Readings) -> PacketFinding:
    """Combine the results of a rule's trees, by alternative, to the result of the rule, which applies."""
    if rule.reading is None:
        return PacketFinding(results[""])
    if Result.UNDECIDED in results.values():
        return PacketFinding(Result.UNDECIDED)
    if set(results.values()) == {Result.HOLDS}:
        return PacketFinding(Result.HOLDS)
    followed = [name for name in accepted[rule.reading] if results[name] is Result.HOLDS]
    if followed:
        return PacketFinding(Result.HOLDS, either(followed), followed[0] == accepted[rule.reading][0])
    return PacketFinding(Result.BROKEN)


def outcome_of(finding: PacketFinding, *, weak: bool) -> Outcome:
    """Return the outcome of a rule that applies. weak: its requirement is below the requested level."""
    if finding.result is Result.HOLDS:
        return Outcome.PASS if finding.first else Outcome.READING
    if finding.result is Result.UNDECIDED:
        return Outcome.INCONCLUSIVE
    return Outcome.WARN if weak else Outcome.FAIL


def rules_of(transport: str) -> tuple[Rule, ...]:
    """Return the rules for packets of this transport, in the order of their verdicts."""
    return tuple(ready.rule for ready in (_READY_REMOTE if transport == "remote" else _READY))


def _result(value: Any) -> Result:
    if value is None:
        return Result.UNDECIDED
    return Result.HOLDS if value else Result.BROKEN


def _verdict(
    ready: _Ready,
    told: Told,
    fields: Fields,
    subject: str,
    evidence: Evidence | None,
    packet: Packet,
    frame: int | None,
) -> Verdict:
    """Return a verdict other than pass."""
    reason = _why(ready, fields, packet) if told.outcome is Outcome.INCONCLUSIVE else None
    expected = dict(ready.expected)
    actual = {key: field_json(fields[key]) for key in ready.keys if key in fields}
    return Verdict(
        told.requirement, told.outcome, subject, expected, actual, told.readings, reason, evidence, told.rule,
        frame=frame,
    )  # fmt: skip


def _why(ready: _Ready, fields: Fields, packet: Packet) -> str:
    """Return why a rule could not be decided."""
    if WHY in fields and any(key.startswith(_SIGNATURE_FACTS) for key in ready.keys):
        return str(fields[WHY])
    return packet.trouble[0].says if packet.trouble else "a field it needs was not decoded"


_SIGNATURE_FACTS = ("Packet.Signature.", "Packet.MultipleSignature.", "Packet.Certificate.")


def field_json(value: Any) -> Any:
    """Convert a field's value to JSON: numbers and text unchanged, bytes as hex, long bytes and texts cut."""
    if isinstance(value, bytes):
        return value[:MAX_SHOWN].hex() + ("..." if len(value) > MAX_SHOWN else "")
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return value[:MAX_TEXT] + "..."
    return value


_Member = tuple[int, _Ready, bool]
"""A rule with its place among all, and whether it is weaker than the level."""


class _Group:
    """The rules with one condition."""

    def __init__(self) -> None:
        self.members: list[_Member] = []

    @cached_property
    def results(self) -> Callable[[Fields], tuple[Known, ...]]:
        return together(_trees(self.members))


class _Kind:
    """The rules that apply to packets of which the same conditions hold."""

    def __init__(self, groups: Sequence[_Group]) -> None:
        self.groups, self.count = groups, 0
        self.members = [one for group in groups for one in group.members]
        self.results: Callable[[Fields], tuple[Known, ...]] = self._by_group

    def _by_group(self, fields: Fields) -> tuple[Known, ...]:
        """Return the results of all trees. Often asked, they get a function of their own."""
        self.count += 1
        if self.count == _OFTEN:
            self.results = together(_trees(self.members))
        return tuple(chain.from_iterable(group.results(fields) for group in self.groups))

    def told(self, results: Sequence[Known], accepted: Readings) -> Iterator[tuple[int, _Ready, Told]]:
        """Yield what the rules say. results: of all their trees."""
        values = iter(results)
        for place, ready, weak in self.members:
            rule = ready.rule
            finding = decide(rule, {name: _result(next(values)) for name in rule.alternatives()}, accepted)
            followed = ((rule.reading, finding.alternative),) if rule.reading and finding.alternative else ()
            yield place, ready, Told(rule.id, rule.requirement, outcome_of(finding, weak=weak), followed)

    def broken(self, results: Sequence[Known], accepted: Readings) -> Iterator[str]:
        """Yield the requirements whose rule is broken. results: of all trees of the rules."""
        values = iter(results)
        for _, ready, _ in self.members:
            names = ready.rule.alternatives()
            mine = [next(values) for _ in names]
            if not all(mine):
                found = {name: _result(one) for name, one in zip(names, mine, strict=True)}
                if decide(ready.rule, found, accepted).result is Result.BROKEN:
                    yield ready.rule.requirement


def _trees(members: Sequence[_Member]) -> list[Expr]:
    return [tree for _, ready, _ in members for tree in ready.rule.alternatives().values()]


_End = tuple[_Ready, Told]
_MOST_PATTERNS, _MOST_KINDS = 1 << 14, 1 << 10
_OFTEN = 64  # Packets with the same conditions, after which their rules become one function.


class _Plan:
    """The rules that bind a profile, by their conditions; many share one, which is evaluated once per packet."""

    def __init__(self, rules: Sequence[tuple[_Ready, bool]]) -> None:
        groups: dict[Expr, _Group] = {}
        for place, (ready, weak) in enumerate(rules):
            groups.setdefault(ready.rule.applies, _Group()).members.append((place, ready, weak))
        self.groups = tuple(groups.values())
        self.conditions = together(list(groups))
        self.readings = tuple(sorted({ready.rule.reading for ready, _ in rules if ready.rule.reading}))
        self.known: dict[tuple[Any, ...], tuple[Pattern, tuple[_End, ...]]] = {}
        self.broke: dict[tuple[Any, ...], frozenset[str]] = {}
        self.kinds: dict[tuple[Known, ...], _Kind] = {}

    def pattern(self, fields: Fields, accepted: Readings) -> tuple[Pattern, tuple[_End, ...]]:
        """Return what the rules say of a packet, and the rule of each result."""
        kind = self._kind(fields)
        results = kind.results(fields)
        key = (kind, results, *map(accepted.get, self.readings))
        found = self.known.get(key)
        if found is None:
            ends = sorted(kind.told(results, accepted), key=itemgetter(0))
            if len(self.known) >= _MOST_PATTERNS:
                self.known.clear()
            found = self.known[key] = Pattern.of([told for *_, told in ends]), tuple(end[1:] for end in ends)
        return found

    def broken(self, fields: Fields, accepted: Readings) -> frozenset[str]:
        """Return the requirements that a packet breaks."""
        kind = self._kind(fields)
        results = kind.results(fields)
        key = (kind, results, *map(accepted.get, self.readings))
        found = self.broke.get(key)
        if found is None:
            if len(self.broke) >= _MOST_PATTERNS:
                self.broke.clear()
            found = self.broke[key] = frozenset(kind.broken(results, accepted))
        return found

    def _kind(self, fields: Fields) -> _Kind:
        held = self.conditions(fields)
        kind = self.kinds.get(held)
        if kind is None:
            if len(self.kinds) >= _MOST_KINDS:
                self.kinds.clear()
            kind = self.kinds[held] = _Kind(tuple(compress(self.groups, held)))
        return kind


@lru_cache(maxsize=16)
def _level(level: str, remote: bool, document: str = "") -> _Plan:
    """Return the rules of one level, whatever profile they bind. document: how their requirements begin."""
    rules = _READY_REMOTE if remote else _READY
    return _Plan(
        [
            (ready, False)
            for ready in rules
            if ready.requirement.level == level and ready.rule.requirement.startswith(document)
        ]
    )


@lru_cache(maxsize=1024)
def _plan(profile: str, level: str, remote: bool, only: frozenset[str] | None) -> _Plan:
    """Return the rules that bind a profile. only: the requirements to judge."""
    rank = LEVELS.index(level)
    return _Plan(
        [
            (ready, LEVELS.index(ready.requirement.level) > rank)
            for ready in (_READY_REMOTE if remote else _READY)
            if ready.rule.binds(profile) and (only is None or ready.rule.requirement in only)
        ]
    )


@cache
def _accepted(reading_set: str) -> Readings:
    return assignment(reading_set)
