"""Make a Wireshark dissector in Lua of the layout tables and the packet rules: `mqconform wireshark > msmq.lua`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from conformance import __version__
from conformance.judge.lua import lua_rules, lua_session_packets
from conformance.judge.packets.judge import REMOTE_ONLY
from conformance.spec.catalogue import requirement_id
from conformance.wire.display import VALUE_NAMES
from conformance.wire.lua import SECTIONS, constants, displayed, filter_name, literal, sections

TCP_PORT, PING_PORT = 1801, 3527
# The requirements judged on bytes that stand where a packet must begin and are no packet.
MARKS = (requirement_id("MQMQ-2.2.19.1.version-number"), requirement_id("MQMQ-2.2.19.1.signature"))


@dataclass(frozen=True, slots=True)
class Dissector:
    """A generated dissector. source: the Lua. rules: ids of its rules. left_out: ids of the others, with the reason."""

    source: str
    fields: int
    rules: tuple[str, ...]
    left_out: Mapping[str, str]


def dissector(*, profile: str, readings: Mapping[str, tuple[str, ...]], level: str = "must") -> Dissector:
    """Return the dissector. readings: reading id to accepted alternatives, the default first. level: a broken
    requirement below it is a warning. A requirement that does not bind the profile is not judged."""
    rules = lua_rules(profile=profile, readings=readings, level=level)
    alone = lua_session_packets(profile=profile, level=level)
    there = {name.partition("/")[0] for name in rules.written}
    left_out = {**rules.left_out, **{name: why for name, why in alone.left_out.items() if name not in there}}
    left_out |= dict.fromkeys(sorted(REMOTE_ONLY), "needs a message that was read remotely")
    names = _filters()
    head = [
        f"-- Microsoft Message Queuing for Wireshark, made by mqconform {__version__}. Do not edit: make it again.",
        f"-- Rules for profile {profile}, level {level}. Fields: msmq.*; broken rules: msmq.fail, msmq.warn.",
    ]
    for reason, ids in by_reason(left_out).items():
        head.append(f"-- Not judged here, but by mqconform replay: what {reason}")
        head += [f"--   {name}" for name in ids]
    parts = [
        "\n".join(head) + "\n",
        f"local TCP_PORT, PING_PORT = {TCP_PORT}, {PING_PORT}\n",
        f"local MARKS = {{ {', '.join(map(literal, MARKS))} }}\n",
        constants(),
        _lua("decode"),
        _lua("lists"),
        _lua("words"),
        "-- The layout tables.\n\n" + sections(),
        _lua("appended"),
        _lua("srmp"),
        _lua("packet"),
        _lua("rules"),
        "-- The rules. The comment is the tree that must be true.\n\n" + rules.source,
        "-- Rules of MS-MQQB on single fields.\n\n" + alone.source,
        "-- Names in display filters.\n\nlocal FILTER = {\n"
        + "".join(f"  [{literal(key)}] = {literal(name)},\n" for key, name in names.items())
        + "}\n",
        "-- Names of values.\n\n" + _value_names(),
        _lua("dissect"),
        _lua("streams"),
    ]
    return Dissector("\n".join(parts), len(names), (*rules.written, *alone.written), left_out)


def by_reason(left_out: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the ids of the rules that are left out, by the reason, the most frequent first."""
    found: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        found.setdefault(reason, []).append(name)
    return dict(sorted(found.items(), key=lambda each: -len(each[1])))


def _filters() -> dict[str, str]:
    """Return every section and field with its display filter name. Raises ValueError if two have the same."""
    keys = [*(section.name for section in SECTIONS), *displayed()]
    names = {key: filter_name(key) for key in keys}
    if len(set(names.values())) != len(names):
        raise ValueError("two fields have the same display filter name")
    return names


def _value_names() -> str:
    lines = ["local NAMES = {}"]
    for key, names in VALUE_NAMES.items():
        members = ", ".join(f"[{value}] = {literal(name)}" for value, name in names.items())
        lines.append(f"NAMES[{literal(key)}] = {{ {members} }}")
    return "\n".join(lines) + "\n"


def _lua(name: str) -> str:
    return files(__name__).joinpath(f"{name}.lua").read_text(encoding="utf-8")
