"""Emits the rules of MS-MQQB on single packets as Lua, and names those of its rules that need more than one packet.

`report/wireshark/rules.lua` decides them as `FieldRule.holds` does. A packet is judged by them only when it is whole.
"""

from __future__ import annotations

from conformance.judge.lua import LuaRules, weak
from conformance.judge.sessions import mutations, packets
from conformance.judge.sessions.packets import FieldRule
from conformance.spec.catalogue import requirement, requirement_id
from conformance.wire.lua import declared, literal
from conformance.wire.packet_table import MALFORMED

SEVERAL_PACKETS = "needs other packets of the session, or several fields at once"
_PRESENT = requirement_id("MQQB-2.2.1.present")


def lua_session_packets(*, profile: str, level: str) -> LuaRules:
    """Emit the rules on single fields, by kind of packet. left_out: all other rules of sessions."""
    known, written, lines = declared(), dict[str, None](), list[str]()
    for kind, rules in packets.RULES.items():
        for rule in rules:
            if requirement(rule.requirement).binds(profile) and rule.field in known:
                written[rule.requirement] = None
                lines.append(_rule(kind, rule, level))
    if requirement(_PRESENT).binds(profile):
        lines.append(_absent(level))
    left_out = {
        name: SEVERAL_PACKETS
        for name in mutations.MUTATIONS
        if name not in written and requirement(name).binds(profile)
    }
    return LuaRules("\n".join(lines) + "\n", tuple(written), left_out)


def _rule(kind: str, rule: FieldRule, level: str) -> str:
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
