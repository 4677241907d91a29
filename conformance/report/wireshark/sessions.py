"""Emits the session rules whose registers the dissector can keep: those on one field, and those of one connection."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib.resources import files
from typing import Final

from conformance.capture.events import BACK_NS, FIRST_NS
from conformance.judge import sessions as judged
from conformance.judge.sessions import flow_steps as steps
from conformance.judge.sessions import message_steps as messages
from conformance.judge.sessions import mutations, packets, tables
from conformance.judge.sessions import registers as r
from conformance.judge.sessions.context import MAX_HOSTS, MAX_REMEMBERED
from conformance.judge.sessions.flow import KEYS
from conformance.judge.sessions.packets import FieldRule
from conformance.judge.sessions.reports import READINGS, RULES, bits_of
from conformance.report.wireshark.literals import LuaRules, literal, weak
from conformance.report.wireshark.steps import exact, lua_steps
from conformance.spec.catalogue import requirement, requirement_id
from conformance.wire.headers import MALFORMED

_FIELDS: Final = {
    steps.USER_SENT: "SessionHeader.UserMsgSequenceNumber",
    steps.RECOVERABLE_SENT: "SessionHeader.RecoverableMsgSeqNumber",
    steps.NUMBER_AND_FLAGS: "SessionHeader.RecoverableMsgAckFlags",
    steps.LOWEST: "SessionHeader.RecoverableMsgAckFlags",
    steps.LOWEST_NUMBER: "SessionHeader.RecoverableMsgAckSeqNumber",
    steps.ONCE: "SessionHeader.RecoverableMsgAckSeqNumber",
    steps.RECOVERABLE_WERE_SENT: "SessionHeader.RecoverableMsgAckSeqNumber",
    steps.ANNOUNCED: "SessionHeader.WindowSize",
    messages.SENT_TIME: "UserHeader.SentTime",
    messages.EXPIRED: "BaseHeader.TimeToReachQueue",
    messages.LASTS: "BaseHeader.TimeToReachQueue",
    messages.ORDINAL: "UserHeader.MessageID",
}
"""The field that a rule is shown at, where it is not AckSequenceNumber."""
_STEPS: Final = (*steps.LOWERED, messages.live, messages.age, messages.name)
_EMITTED: Final = frozenset({*range(steps.DUE + 1), *_FIELDS})
_PLACES: Final = ("RECOVERABLE_MS", "EXPRESS_MS", "NAMED", "WINDOW", "DOUBTED_NS")
_LACKING: Final = (
    ("waits", "needs the end of a connection or of the capture"),
    ("opening", "needs the state of the opening of a session"),
    ("packets", "needs several fields at once, or a ping and its response"),
)
"""Rooms of rules that are not emitted, and what these need."""
_CROSSING: Final = "needs other messages, on whatever connection they came"
_PRESENT = requirement_id("MQQB-2.2.1.present")


def lua_sessions(*, profile: str, readings: Mapping[str, tuple[str, ...]], level: str) -> LuaRules:
    """Emit the rules of the steps, with all that their registers begin with. readings: as for `dissector`."""
    registers = r.Registers()
    opened = registers.open(0, 0, complete=True)
    for place, reading in READINGS:
        registers.shared[place] = bits_of(reading, readings[reading])
    registers.shared[r.FREE] = 0
    rules = {
        number: rule
        for number, rule in RULES.items()
        if number in _EMITTED and requirement(rule.requirement).binds(profile)
    }
    lines = ["local STEPS = {}", lua_steps(_STEPS, "STEPS"), "local SESSION_RULES = {"]
    for number, rule in rules.items():
        demand = requirement(rule.requirement)
        broken = "warn" if weak(demand, level) else "fail"
        default = f"default = {bits_of(rule.reading, readings[rule.reading][:1])}, " if rule.reading else ""
        field = literal(_FIELDS.get(number, "SessionHeader.AckSequenceNumber"))
        lines.append(
            f"  [{number}] = {{ id = {literal(rule.requirement)}, broken = {literal(broken)}, {default}"
            f"fields = {{ {field} }},\n    says = {literal(demand.says)} }},"
        )
    base = opened.base
    lines += [
        "}",
        f"local ROW = {_row(registers.connections.rows[base : base + r.WIDTH])}",
        f"local SHARED = {_row(registers.shared)}",
        f"local AT = {{ {', '.join(f'{name} = {getattr(r, name)}' for name in _PLACES)} }}",
        f"local SIDES = {{ {', '.join(map(str, r.SIDES))} }}",
        f"local KINDS = {{ {', '.join(f'{name} = {number}' for number, name in enumerate(steps.KINDS))} }}",
        f"local READ = {{ {', '.join(map(literal, KEYS))} }}",
        f"local NONE, NODE, NUMBER = {exact(r.NONE)}, {r.NODE}, {tables.NUMBER}",
        f"local OTHER, HOLDS, FAILS, OPEN = {steps.OTHER}, {steps.HOLDS}, {steps.FAILS}, {steps.OPEN}",
        f"local DOUBTS, RIGHTS = {steps.NOTE | messages.DOUBTED << 3}, {steps.NOTE | messages.RIGHTED << 3}",
        f"local EXPIRED = {messages.EXPIRED}",
        f"local MOST_HOSTS, MOST_MESSAGES = {MAX_HOSTS}, {MAX_REMEMBERED}",
        f"local FIRST_SECOND, BACK_NS = {FIRST_NS // 1_000_000_000}, {BACK_NS}",
    ]
    return LuaRules("\n".join(lines) + "\n", tuple(dict.fromkeys(rule.requirement for rule in rules.values())), {})


def _row(numbers: Sequence[int]) -> str:
    """Emit the numbers of a row that are not 0."""
    return f"{{ {', '.join(f'[{place}] = {exact(number)}' for place, number in enumerate(numbers) if number)} }}"


def session_rules_left_out(*, profile: str, written: Collection[str]) -> dict[str, str]:
    """Return the ids of the session rules that are not emitted, with the reason."""
    rooms = {room: files(judged).joinpath(f"{room}.py").read_text("utf-8") for room, _ in _LACKING}
    return {
        name: next((why for room, why in _LACKING if f'"{name}"' in rooms[room]), _CROSSING)
        for name in mutations.MUTATIONS
        if name not in written and requirement(name).binds(profile)
    }


def lua_session_packets(known: Collection[str], *, profile: str, level: str) -> LuaRules:
    """Emit the rules on single fields, by kind of packet. known: the keys that the Lua decodes."""
    written, lines = dict[str, None](), list[str]()
    for kind, rules in packets.RULES.items():
        for rule in rules:
            if requirement(rule.requirement).binds(profile) and rule.field in known:
                written[rule.requirement] = None
                lines.append(_field_rule(kind, rule, level))
    if requirement(_PRESENT).binds(profile):
        lines.append(_absent(level))
    return LuaRules("\n".join(lines) + "\n", tuple(written), {})


def _field_rule(kind: str, rule: FieldRule, level: str) -> str:
    among = ", ".join(f"[{value:#x}] = true" for value in sorted(rule.among))
    return _alone(
        kind,
        rule.requirement,
        rule.field,
        f"low = {rule.low:#x}, high = {rule.high:#x}, mask = {rule.mask:#x}"
        + (f", among = {{ {among} }}" if among else ""),
        level,
    )


def _absent(level: str) -> str:
    """Emit the rule that an internal packet has its header: a packet that ends before it has no field to look at."""
    return _alone(MALFORMED, _PRESENT, "InternalHeader.Flags", 'announced = "BaseHeader.Flags.IN"', level)


def _alone(kind: str, name: str, field: str, condition: str, level: str) -> str:
    demand = requirement(name)
    broken = "warn" if weak(demand, level) else "fail"
    return (
        f"alone({literal(kind)}, {{ id = {literal(name)}, broken = {literal(broken)}, fields = {{ {literal(field)} }}, "
        f"{condition},\n  says = {literal(demand.says)} }})"
    )
