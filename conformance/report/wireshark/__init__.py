"""Emits layout tables and packet rules as Lua: the plugin for Wireshark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import assert_never

from conformance import __version__
from conformance.judge.packets.judge import REMOTE_ONLY, rules_of
from conformance.judge.rules import (
    And,
    Begins,
    ByteAt,
    Compare,
    Const,
    Expr,
    Field,
    Has,
    In,
    Masked,
    Not,
    Or,
    Plus,
    Rest,
    Rule,
    Spelled,
    Times,
    describe,
    keys_in,
    parts_of,
)
from conformance.report.wireshark.literals import Literal, LuaRules, literal, weak
from conformance.report.wireshark.sessions import lua_session_packets, lua_sessions, session_rules_left_out
from conformance.spec.catalogue import requirement, requirement_id
from conformance.wire import appended, decode, elements, framing, headers
from conformance.wire.display import VALUE_NAMES
from conformance.wire.headers import ACK_BODIES, EXTENSION_SECTIONS, INTERNAL_PACKETS, USER_MESSAGE_SECTIONS
from conformance.wire.layout import (
    Align,
    Bits,
    Choice,
    Condition,
    Elements,
    Ended,
    Guid,
    Item,
    Length,
    Octets,
    Pad,
    Section,
    UInt,
    When,
    Wide,
)

# Facts that the decoder adds beside the fields of the tables, and those `judge.packets.facts` adds; the Lua has them
# all.
FACTS = (
    "Packet.Kind",
    "Packet.Length",
    "Packet.SessionHeaderPlacement",
    "Packet.HeadersEnd",
    "Packet.Unexplained",
    "Packet.Counted",
    "Packet.Overrun",
    "Packet.Decided",
    "Packet.ExtensionEnd",
    "Packet.ExtensionOrder",
    "DeadLetterHeader.Counted",
    "SoapHeader.Layout",
    "SRMPEnvelopeHeader.Layout",
    "SRMPEnvelopeHeader.Unit",
    "SRMPEnvelopeHeader.Counted",
    "CompoundMessageHeader.Counted",
    "Packet.SrmpOrder",
)
# The sections that `report/wireshark/packet.lua` reads; the contents of fields of bytes are not among them.
SECTIONS: tuple[Section, ...] = (
    headers.BASE_HEADER,
    headers.INTERNAL_HEADER,
    *(section for section, _ in (*USER_MESSAGE_SECTIONS, *EXTENSION_SECTIONS)),
    *dict.fromkeys(section for _, section in INTERNAL_PACKETS.values()),
    *ACK_BODIES.values(),
    headers.PING,
)
_OF_TEXT = ("Terminated", "Inner", "Odd")
_OF_LIST = ("Elements", "Stopped", "StoppedType", "Left", "Way", "Plain", "Prefixed", "Foreign")
_HALF = 32  # bits of the halves of a 64-bit word, which a Lua number holds exactly


def sections() -> str:
    """Emit every section as a Lua local table `SECTION`, and tables of the sections of each kind of packet."""
    lines = ["local SECTION = {}"]
    for section in SECTIONS:
        body = ",\n".join(_items(section.items, section.name, 1))
        lines += [
            f"-- {section.source}",
            f"SECTION[{literal(section.name)}] = section({literal(section.name)}, {{\n{body},\n}})",
        ]
    return "\n".join([*lines, *_packets()]) + "\n"


def declared() -> frozenset[str]:
    """Return every key that the Lua decodes, facts included."""
    out: set[str] = set(FACTS)
    for section in SECTIONS:
        out.update(_keys(section.items, section.name))
    return frozenset(out)


def displayed() -> tuple[str, ...]:
    """Return the keys that are fields in Wireshark, each once. Fields of a list's elements have no index."""
    keys = (key for section in SECTIONS for key in _fields(section.items, section.name))
    return tuple(dict.fromkeys(keys))


def whole_only() -> frozenset[str]:
    """Return the keys of 64-bit words: a Lua number does not hold them exactly, so their bit fields must be used."""
    return frozenset(
        key
        for section in SECTIONS
        for key, item in _flat(section.items, section.name)
        if isinstance(item, UInt) and 8 * item.width > _HALF
    )


def _packets() -> Iterator[str]:
    for name, order in (
        ("USER_MESSAGE_SECTIONS", USER_MESSAGE_SECTIONS),
        ("EXTENSION_SECTIONS", EXTENSION_SECTIONS),
    ):
        yield f"local {name} = {{"
        for section, condition in order:
            when = "" if condition is None else f", {_condition(condition)}"
            yield f"  {{ SECTION[{literal(section.name)}]{when} }},"
        yield "}"
    sizes = ", ".join(f"[{literal(name)}] = {size}" for name, size in appended.SIZES.items())
    yield f"local APPENDED_SIZES = {{ {sizes} }}"
    yield "local INTERNAL_PACKETS = {"
    for code, (kind, section) in INTERNAL_PACKETS.items():
        yield f"  [{code}] = {{ {literal(kind)}, SECTION[{literal(section.name)}] }},"
    yield "}"
    sizes = ", ".join(f"[{code}] = {size}" for code, size in framing.INTERNAL_SIZES.items())
    yield f"local INTERNAL_SIZES = {{ {sizes} }}"
    yield "local ACK_BODIES = {"
    for kind, section in ACK_BODIES.items():
        yield f"  [{literal(kind)}] = SECTION[{literal(section.name)}],"
    yield "}"


def constants() -> str:
    """Emit the numbers and names that the decoder decides by, as the Lua local table `C`."""
    values: Mapping[str, Literal] = {
        "signature": headers.SIGNATURE,
        "version": headers.VERSION,
        "maximum_size": headers.MAXIMUM_SIZE,
        "base_size": decode.BASE_SIZE,
        "session_header_size": headers.SESSION_HEADER_SIZE,
        "session_ack": headers.SESSION_ACK,
        "ping_signature": headers.PING_SIGNATURE,
        "ping_size": headers.PING_SIZE,
        "order_queue_id": framing.ORDER_QUEUE_ID,
        "order_queue_name": framing.ORDER_QUEUE_NAME,
        "order_label": framing.ORDER_LABEL,
        "order_ack_class": framing.ORDER_ACK_CLASS,
        "ack_receive_class": framing.ACK_RECEIVE_CLASS,
        "nack_classes": framing.NACK_CLASSES,
        "ack_body_size": framing.ACK_BODY_SIZE,
        "ack_marks": framing.ACK_MARKS,
        "ack_tail": framing.ACK_TAIL,
        "establish_connection": headers.ESTABLISH_CONNECTION,
        "system_at": framing.SYSTEM_AT,
        "system_mark": framing.SYSTEM_MARK,
        "used_flags": 0xFFFF - framing.UNUSED_FLAGS,
        "flags_at": framing.FLAGS_AT,
        "message_bits": framing.MESSAGE_BITS,
        "message_flags": framing.MESSAGE_FLAGS,
        "destination_bit": framing.DESTINATION_BIT,
        "body": decode.BODY,
        "extent": decode.EXTENT,
        "user_message": headers.USER_MESSAGE,
        "order_ack": headers.ORDER_ACK,
        "final_ack": headers.FINAL_ACK,
        "ping": headers.PING_KIND,
        "malformed": headers.MALFORMED,
        "extension_size": headers.EXTENSION_SIZE,
        "dead_letter_packed": headers.DEAD_LETTER_PACKED,
        "body_section_id": headers.BODY_SECTION_ID,
        "header_section_id": headers.HEADER_SECTION_ID,
        "destination_id": headers.DESTINATION_ID,
        "srmp_least": appended.LEAST,
        "body_allocated": decode.BODY_ALLOCATED,
        "soap_packed": headers.SOAP_PACKED,
        "soap_unpadded": headers.SOAP_UNPADDED,
        "srmp_packed": headers.SRMP_PACKED,
        "srmp_bytes": headers.SRMP_BYTES,
        "most_elements": elements.MAX_SHOWN,
        "spare": elements.SPARE,
    }
    lines = "".join(f"  {name} = {literal(value)},\n" for name, value in values.items())
    ways = ", ".join(map(literal, elements.WAYS))
    return f"local C = {{\n{lines}}}\nlocal WAYS = {{ {ways} }}\n"


def _items(items: tuple[Item, ...], prefix: str, depth: int) -> Iterator[str]:
    for item in items:
        yield "  " * depth + _item(item, prefix, depth)


def _item(item: Item, prefix: str, depth: int) -> str:
    if isinstance(item, When):
        return f"when({_condition(item.condition)}, {_block(item.items, prefix, depth)})"
    key = f"{prefix}.{item.name}"
    match item:
        case UInt():
            named = "".join(f", {_bits(one, item, key)}" for one in item.bits)
            return f"uint({literal(key)}, {item.width}{named})"
        case Guid():
            return f"guid({literal(key)})"
        case Octets():
            if item.filled:
                return f"filled({literal(key)}, {_length(item.length, prefix)})"
            inside = f", {_elements(item.elements, prefix)}" if item.elements else ""
            return f"octets({literal(key)}, {_length(item.length, prefix)}{inside})"
        case Wide():
            return f"wide({literal(key)}, {_length(item.length, prefix)})"
        case Pad():
            packed = f", {literal(item.not_under)}" if item.not_under else ""
            return f"pad({literal(key)}, {item.to}{packed})"
        case Choice():
            options = ", ".join(
                f"[{value}] = {_block(option, key, depth)}" for value, option in sorted(item.options.items())
            )
            return f"choice({literal(item.by)}, {{ {options} }})"
    assert_never(item)


def _block(items: tuple[Item, ...], prefix: str, depth: int) -> str:
    if not items:
        return "{}"
    return "{\n" + ",\n".join(_items(items, prefix, depth + 1)) + ",\n" + "  " * depth + "}"


def _bits(one: Bits, word: UInt, key: str) -> str:
    if word.width * 8 > _HALF and one.low // _HALF != (one.low + one.width - 1) // _HALF:
        raise ValueError(f"{key}.{one.name} crosses the halves of a 64-bit word, which the Lua cannot read")
    return f"{{ {literal(f'{key}.{one.name}')}, {one.low}, {one.width} }}"


def _length(length: Length, prefix: str) -> str:
    if not length.of:
        return f"{{ fixed = {length.fixed} }}"
    times = f", times = {length.times}" if length.times != 1 else ""
    minus = f", minus = {length.minus}" if length.minus else ""
    under = f", bytes_under = {literal(length.bytes_under)}" if length.bytes_under else ""
    return f"{{ of = {literal(f'{prefix}.{length.of}')}{times}{minus}{under} }}"


def _elements(inside: Elements, prefix: str) -> str:
    options = ", ".join(f"[{code}] = {{ {_element(items)} }}" for code, items in inside.options.items())
    count, selector = literal(f"{prefix}.{inside.count}"), literal(inside.selector)
    return f"{{ count = {count}, selector = {selector}, options = {{ {options} }} }}"


def _element(items: tuple[UInt | Guid | Align | Ended, ...]) -> str:
    out = []
    for item in items:
        match item:
            case Align():
                out.append(f"{{ align = {item.to}, doubtful = {literal(item.doubtful)} }}")
            case Ended():
                out.append(f'{{ type = "text", name = {literal(item.name)} }}')
            case Guid():
                out.append(f'{{ type = "guid", width = 16, name = {literal(item.name)} }}')
            case UInt():
                out.append(f'{{ type = "uint", width = {item.width}, name = {literal(item.name)} }}')
    return ", ".join(out)


def _condition(condition: Condition) -> str:
    values = ", ".join(f"[{value}] = true" for value in condition.values)
    negate = ", negate = true" if condition.negate else ""
    return f"{{ key = {literal(condition.key)}, values = {{ {values} }}{negate} }}"


def _flat(items: tuple[Item, ...], prefix: str) -> Iterator[tuple[str, Item]]:
    for item in items:
        match item:
            case When():
                yield from _flat(item.items, prefix)
            case Choice():
                for option in item.options.values():
                    yield from _flat(option, f"{prefix}.{item.name}")
            case _:
                yield f"{prefix}.{item.name}", item


def _fields(items: tuple[Item, ...], prefix: str) -> Iterator[str]:
    for key, item in _flat(items, prefix):
        yield key
        if isinstance(item, UInt):
            yield from (f"{key}.{one.name}" for one in item.bits)
        elif isinstance(item, Octets) and item.elements:
            yield from (f"{key}.{name}" for name in (item.elements.selector, "Padding"))
            for option in item.elements.options.values():
                yield from (f"{key}.{name}" for name in elements.names_of(option))


def _keys(items: tuple[Item, ...], prefix: str) -> Iterator[str]:
    yield from _fields(items, prefix)
    for key, item in _flat(items, prefix):
        match item:
            case Wide():
                yield from (f"{key}.{fact}" for fact in _OF_TEXT)
            case Pad():
                yield f"{key}.Complete"
            case Octets() if item.elements:
                yield from (f"{key}.{fact}" for fact in _OF_LIST)
                yield from (f"{key}.Fits.{way}" for way in elements.WAYS)
                yield from (f"{key}.Of{code}" for code in item.elements.options)
            case Octets() if item.filled:
                yield from (f"{key}.{fact}" for fact in decode.FILLED)
            case _:
                pass


def filter_name(key: str) -> str:
    """Return the display filter name of a key: `BaseHeader.Flags.PR` is `msmq.base_header.flags.pr`."""
    out = ""
    for at, char in enumerate(key):
        before, after = key[at - 1 : at], key[at + 1 : at + 2]
        begins = char.isupper() and before.isalnum() and (not before.isupper() or after.islower())
        out += ("_" if begins else "") + char.lower()
    return f"msmq.{out}"


def lua_rules(
    *, profile: str, readings: Mapping[str, tuple[str, ...]], level: str, rules: Iterable[Rule] = rules_of("buffer")
) -> LuaRules:
    """Emit the packet rules that bind a profile.

    readings: accepted alternatives, the default first. level: a broken rule weaker than this level warns.
    """
    known, inexact = declared(), whole_only()
    written: list[str] = []
    left_out: dict[str, str] = {}
    lines: list[str] = []
    for rule in rules:
        if not rule.binds(profile):
            continue
        trees = (rule.applies, *rule.alternatives().values())
        missing = {key for tree in trees for key in keys_in(tree)} - known
        whole = {key for tree in trees for key in _value_of(tree) & inexact}
        if any(map(_spelled, trees)):
            left_out[rule.id] = _GRAMMAR
        elif missing:
            left_out[rule.id] = _lacks(min(missing))
        elif whole:
            left_out[rule.id] = "needs a number of 64 bits"
        else:
            written.append(rule.id)
            lines.append(_rule(rule, readings, level))
    return LuaRules("\n".join(lines) + "\n", tuple(written), left_out)


_GRAMMAR = "needs the grammar of names"
_LACKING = (
    ("Packet.Signature.", "needs the signature to be verified"),
    ("Packet.MultipleSignature.", "needs the signature to be verified"),
    ("Packet.Certificate.", "needs the certificate to be decoded"),
    ("SecurityHeader.SecurityData.", "needs the inside of SecurityData"),
    ("SID.", "needs the inside of SecurityData"),
    ("SIMPLEBLOB.", "needs the inside of SecurityData"),
)
"""Beginnings of the fields that the Lua does not decode, and what a rule about them needs."""


def _lacks(key: str) -> str:
    """Return what a rule about a field that the Lua does not decode needs."""
    if key.endswith((".Misspelled", ".Outdated")):
        return _GRAMMAR
    return next((why for begin, why in _LACKING if key.startswith(begin)), f"needs {key}, which is not decoded here")


def lua_tree(expr: Expr) -> str:
    """Emit one tree as a Lua expression."""
    match expr:
        case Field(key):
            return f"field({literal(key)})"
        case Const(value):
            return f"const({literal(value)})"
        case Has(key):
            return f"has({literal(key)})"
        case Compare(op, left, right):
            return f"compare({literal(op)}, {lua_tree(left)}, {lua_tree(right)})"
        case In(value, values):
            return f"one_of({lua_tree(value)}, {{ {', '.join(map(literal, values))} }})"
        case Masked(value, mask):
            return f"masked({lua_tree(value)}, {literal(mask)})"
        case Plus(left, right):
            return f"plus({lua_tree(left)}, {lua_tree(right)})"
        case Times(value, factor):
            return f"times({lua_tree(value)}, {literal(factor)})"
        case Rest(value, by):
            return f"rest({lua_tree(value)}, {literal(by)})"
        case ByteAt(key, index):
            return f"byte_at({literal(key)}, {index})"
        case Begins(key, text):
            return f"begins({literal(key)}, {literal(text.lower())})"
        case Spelled(key):
            raise ValueError(f"Lua has no grammar to parse {key} with")
        case And(parts):
            return f"all_of({', '.join(map(lua_tree, parts))})"
        case Or(parts):
            return f"any_of({', '.join(map(lua_tree, parts))})"
        case Not(part):
            return f"opposite({lua_tree(part)})"
    assert_never(expr)


def _rule(rule: Rule, readings: Mapping[str, tuple[str, ...]], level: str) -> str:
    demand = requirement(rule.requirement)
    keys = dict.fromkeys(key for tree in rule.alternatives().values() for key in keys_in(tree))
    lines = [
        "rule({",
        f"  id = {literal(rule.requirement)},",
        f"  says = {literal(demand.says)},",
        f"  broken = {literal('warn' if weak(demand, level) else 'fail')},",
        f"  fields = {{ {', '.join(map(literal, keys))} }},",
        f"  applies = {lua_tree(rule.applies)},",
    ]
    if rule.reading is None:
        tree = rule.alternatives()[""]
        lines += [f"  -- {_comment(tree)}", f"  holds = {lua_tree(tree)},"]
    else:
        lines += [f"  reading = {literal(rule.reading)},"]
        lines += [f"  accepted = {{ {', '.join(map(literal, readings[rule.reading]))} }},", "  alternatives = {"]
        for name, tree in rule.alternatives().items():
            lines += [f"    -- {_comment(tree)}", f"    [{literal(name)}] = {lua_tree(tree)},"]
        lines += ["  },"]
    return "\n".join([*lines, "})"])


def _comment(tree: Expr) -> str:
    return " ".join(describe(tree).split())


def _spelled(tree: Expr) -> bool:
    """Return True when the tree needs the grammar of names, which Lua lacks."""
    return isinstance(tree, Spelled) or any(map(_spelled, parts_of(tree)))


def _value_of(tree: Expr) -> frozenset[str]:
    """Return the keys whose number the tree needs, not only their presence."""
    if isinstance(tree, Field):
        return frozenset({tree.key})
    return frozenset(key for part in parts_of(tree) for key in _value_of(part))


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
    alone = lua_session_packets(declared(), profile=profile, level=level)
    sessions = lua_sessions(profile=profile, readings=readings, level=level)
    written = (*rules.written, *alone.written, *sessions.written)
    there = {name.partition("/")[0] for name in written}
    left_out = {**rules.left_out, **session_rules_left_out(profile=profile, written=there)}
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
        # In a block of their own: a part of a Lua program has at most 200 local names.
        "-- Rules of MS-MQQB on several packets of a connection.\n\nlocal begin, lose, judge_session\n",
        "local function last_value(of)\n  local all = { of() }\n  return #all > 0 and all[#all].value or nil\nend\n",
        f"do\n{sessions.source}\n{_lua('sessions')}end\n",
        _lua("streams"),
    ]
    return Dissector("\n".join(parts), len(names), written, left_out)


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
