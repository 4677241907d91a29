"""Emits a walker per section, and code for texts and for counted lists of elements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from conformance.wire.columns.shapes import NotEmpty, Place, Presence, Shapes, Sort, UnknownShapeError, is_among, number
from conformance.wire.decode import FILLED
from conformance.wire.elements import PREFIX, PROTOCOLS, SPARE, WAYS
from conformance.wire.layout import (
    Align,
    Blob,
    Branch,
    Condition,
    ElementItem,
    Elements,
    Ended,
    Guid,
    Padding,
    Run,
    Section,
    Step,
    UInt,
    steps_of,
)

UNKNOWN = 2
FOLDED = (
    (0xDF, 0xDF), (0x130, 0x131), (0x149, 0x149), (0x17F, 0x17F), (0x1F0, 0x1F0), (0x1E96, 0x1E9A), (0x212A, 0x212A),
    (0xFB00, 0xFB06),
)  # fmt: skip
"""First and last letters of ranges: those beyond ASCII whose lower or upper case has an ASCII letter."""


def starts_with(name: str, text: str) -> str:
    """Emit a function `name(at, chars)`: 1 when the text begins with this one, 0 when not, 2 when unknown.

    The first four WCHARs nearly always decide: one bit makes their letters lower-case, and makes no other WCHAR a
    letter.
    """
    few = min(4, len(text))
    wanted, small = _word(text[:few])
    high = sum(0xFF80 << 16 * at for at in range(few))
    lines = [
        _compare(f"{name}_slowly", text, "i"),
        f"def {name}(at, chars):",
        f"    count = min(chars, {few})",
        "    word = u64(at + 2 * count - 8) >> (64 - 16 * count & 63)",
        # Shifting leaves copies of the sign: mask all but `count` WCHARs.
        "    word = select(count == 4, word, word & ((1 << 16 * (count & 3)) - 1))",
        f"    if word | {small} != {wanted} and word & {_signed(high)} == 0:",
        "        return 0",
        f"    return {name}_slowly(at, chars)",
        "",
    ]
    return "\n".join(lines)


def ends_with(name: str, text: str) -> str:
    """Emit the same function for the end of a text."""
    return _compare(name, text, f"chars - {len(text)} + i")


def equals(name: str, text: str) -> str:
    """Emit a function `name(at, chars)` that compares exactly: 0 or 1. WCHARs are compared in fours."""
    raw = _ascii(text).encode("utf-16-le")
    lines = [f"def {name}(at, chars):", f"    if chars != {len(text)}:", "        return 0"]
    at = 0
    while at < len(raw):
        width = 8 if len(raw) - at >= 8 else 4 if len(raw) - at >= 4 else 2
        word = int.from_bytes(raw[at : at + width], "little", signed=width == 8)
        lines += [f"    if u{8 * width}(at + {at}) != {word}:", "        return 0"]
        at += width
    return "\n".join([*lines, "    return 1", ""])


def direct_name(name: str) -> str:
    """Emit a function `name(at, chars)`: 1 for a usual direct format name, 2 for any other text.

    Usual is `OS:` or `TCP:`, an address, a backslash, perhaps `private$` and another backslash, and the name of a
    queue, in letters that no reading of MS-MQMQ 2.1.2 excludes.
    """
    plain = [one for one in range(0x21, 0x7F) if chr(one) not in '"+,;\\']
    low, high = (sum(1 << one % 64 for one in plain if one // 64 == half) for half in (0, 1))
    return "\n".join(
        [
            starts_with(f"{name}_private", "PRIVATE$"),
            starts_with(f"{name}_system", "SYSTEM$"),
            f"def {name}_digits(at, chars):",
            "    parts = 1",
            "    value = digits = bad = i = 0",
            "    while i < chars:",
            "        letter = u16(at + 2 * i)",
            "        i += 1",
            "        if letter == 46:",
            "            bad |= digits == 0",
            "            parts += 1",
            "            value = digits = 0",
            "        else:",
            "            bad |= (letter < 48) | (letter > 57) | ((digits > 0) & (value == 0))",
            "            value = min(value * 10 + letter - 48, 256)",
            "            digits += 1",
            "            bad |= value > 255",
            "    return (bad == 0) & (parts == 4) & (digits > 0)",
            "",
            "",
            f"def {name}(at, chars):",
            "    if chars < 6 or chars > 120:",
            "        return 2",
            "    word = u64(at) | 0x20_0020_0020",
            f"    system = word & 0xFFFF_FFFF_FFFF == {_word('os:')[0]}",
            f"    digits = word == {_word('tcp:')[0]}",
            "    if system | digits == 0:",
            "        return 2",
            "    begin = select(digits, 4, 3)",
            "    i = begin",
            "    bad = slashes = first = last = wide = 0",
            "    while i < chars:",
            "        letter = u16(at + 2 * i)",
            f"        half = select(letter < 64, {_signed(low)}, {_signed(high)})",
            "        fits = (half >> (letter & 63)) & 1 & (letter < 128)",
            "        slash = letter == 92",
            "        first = select(slash & (slashes == 0), i, first)",
            "        last = select(slash, i, last)",
            "        slashes += slash",
            # Spaces and letters beyond ASCII may stand in the queue's name only.
            "        other = (letter == 32) | ((letter >= 160) & ((letter < 0xD800) | (letter >= 0xE000)))",
            "        wide = select(other & (wide == 0), i, wide)",
            "        bad |= 1 - (fits | slash | other)",
            "        i += 1",
            "    if bad != 0 or slashes == 0 or slashes > 2 or first == begin or last == chars - 1:",
            "        return 2",
            "    if wide != 0 and wide < last:",
            "        return 2",
            "    end = at + 2 * last + 2",
            "    left = chars - last - 1",
            f"    if {name}_private(end, left) != 0 or {name}_system(end, left) != 0:",
            "        return 2",
            "    if slashes == 2:",
            f"        if last - first != 9 or {name}_private(at + 2 * first + 2, 8) != 1:",
            "            return 2",
            f"    if digits != 0 and {name}_digits(at + 2 * begin, first - begin) == 0:",
            "        return 2",
            "    return 1",
            "",
        ]
    )


def _between(letters: tuple[int, int]) -> str:
    return f"((letter >= {letters[0]}) & (letter <= {letters[1]}))"


def _compare(name: str, text: str, index: str) -> str:
    wanted, first, last, other = _ascii(text).lower(), 65, 90, 32
    lines = [
        f"{name.upper()} = {tuple(map(ord, wanted))!r}",
        "",
        f"def {name}(at, chars):",
    ]
    if index != "i":
        lines += [f"    if chars < {len(text)}:", "        return 0"]
    lines += [
        f"    for i in range({len(text)}):",
        *(["        if i >= chars:", "            return 0"] if index == "i" else []),
        f"        letter = u16(at + 2 * ({index}))",
        "        if letter >= 128:",
        f"            return select({' | '.join(map(_between, FOLDED))}, {UNKNOWN}, 0)",
        f"        if letter >= {first} and letter <= {last}:",
        f"            letter += {other}",
        f"        if letter != {name.upper()}[i]:",
        "            return 0",
        "    return 1",
        "",
    ]
    return "\n".join(lines)


def _word(text: str) -> tuple[int, int]:
    """Return up to four lower-case letters as a number, and the bits that make upper-case letters lower-case."""
    letters = _ascii(text).lower()
    word = sum(ord(one) << 16 * at for at, one in enumerate(letters))
    return _signed(word), sum(0x20 << 16 * at for at, one in enumerate(letters) if one.isalpha())


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def _ascii(text: str) -> str:
    if not text.isascii() or not text:
        raise UnknownShapeError(f"only a text of ASCII can be compared, not {text!r}")
    return text


STOPPED = ("", "type", "short", "unterminated")
_DIRECT = 3
_TYPE, _SHORT, _UNTERMINATED = 1, 2, 3
# The results of one way of reading, in this order; `kinds` follow.
_WALKED = ("Elements", "Stopped", "StoppedType", "Left", "Plain", "Prefixed", "Foreign", "fits")


def list_block(shapes: Shapes, key: str, section: str, given: tuple[Presence, ...], elements: Elements) -> int:
    """Reserve the slots of a list's facts and return the first one; the places of the facts are added to `shapes`."""
    names = [*_WALKED[:-1], *(f"Of{selector}" for selector in elements.options), "Way"]
    names += [f"Fits.{way}" for way in WAYS]
    slots = [shapes.slot(f"{key}.{name}") for name in names]
    if slots != list(range(slots[0], slots[0] + len(slots))):
        raise UnknownShapeError(f"the slots of {key} do not follow each other")
    stopped = Condition(f"{key}.Stopped", (_TYPE,))
    for name, slot in zip(names, slots, strict=True):
        words = {"Stopped": STOPPED, "Way": WAYS}.get(name, ())
        sort = Sort.WORD if words else Sort.FLAG if name.startswith("Fits.") else Sort.NUMBER
        conditions = (*given, stopped) if name == "StoppedType" else given
        shapes.add(Place(f"{key}.{name}", section, sort, conditions, slot, fact="slot", words=words))
    # A list with a name that only the grammar can judge is left to the other path; in others each name is derived.
    direct = Condition(f"{key}.Of{_DIRECT}", (0,), negate=True)
    for fact in ("Misspelled", "Outdated"):
        shapes.add(Place(f"{key}.{fact}", section, Sort.NUMBER, (*given, direct), fact="const"))
    return slots[0]


def list_code(elements: Iterable[Elements], spare: int, letters: int) -> str:
    """Emit the functions `walk_list` and `list_facts`. elements: of all lists, which must be equal. spare: the first
    of the slots for the results of each way. letters: the slot that records that letters beyond ASCII, or the grammar
    of names, decide."""
    every = list(elements)
    options = every[0].options
    if any(dict(one.options) != dict(options) for one in every):
        raise UnknownShapeError("the lists of names differ in their elements, one walker reads them all")
    width = len(_WALKED) + len(options)
    return "\n".join(
        [starts_with("begins_direct", PREFIX), direct_name("usual_direct")]
        + [starts_with(f"begins_protocol{at}", one) for at, one in enumerate(PROTOCOLS)]
        + [_classify(), _walk(options, letters), _facts(width, len(options), spare)]
    )


def ways_room(elements: Elements) -> int:
    """Return the number of slots that all ways of reading a list need together."""
    return (len(_WALKED) + len(elements.options)) * len(WAYS)


def _classify() -> str:
    lines = [
        "def name_begins(at, chars):",
        '    """0: with DIRECT=, 1: with a protocol, 2: with neither, 3: letters beyond ASCII decide."""',
        "    found = begins_direct(at, chars)",
        "    if found == 1:",
        "        return 0",
        f"    if found == {UNKNOWN}:",
        "        return 3",
    ]
    for at, _ in enumerate(PROTOCOLS):
        lines += [
            f"    found = begins_protocol{at}(at, chars)",
            "    if found == 1:",
            "        return 1",
            f"    if found == {UNKNOWN}:",
            "        return 3",
        ]
    return "\n".join([*lines, "    return 2", ""])


def _walk(options: Mapping[int, tuple[ElementItem, ...]], letters: int) -> str:
    kinds = {selector: f"k{selector}" for selector in options}
    lines = [
        "def walk_list(a, n, offset, count, origin, doubtful, o, out):",
        '    """origin: 0 the header, 1 the element, 2 no alignment. 1 when an element has one that depends on it."""',
        "    at = met = stopped = selector = aligned = plain = prefixed = foreign = 0",
        f"    {' = '.join(kinds.values())} = 0",
        f"    while n - at > {SPARE}:",
        "        begin = at",
        "        kind = u16(a + at)",
        "        stop = 0",
        "        here = at + 2",
    ]
    word = "if"
    for selector, items in options.items():
        lines.append(f"        {word} kind == {selector}:")
        word = "elif"
        for item in items:
            lines += ["            " + line for line in _item(item, letters)]
        lines += ["            if stop == 0:", f"                {kinds[selector]} += 1"]
    lines += [
        "        else:",
        f"            stop = {_TYPE}",
        "        if stop != 0:",
        "            selector = kind",
        "            stopped = 0 if met >= count else stop",
        "            break",
        "        at = here",
        "        met += 1",
        "    left = n - at",
        "    even = ((offset + n) & 3) == 0",
        f"    fits = 1 if stopped == 0 and (left == 0 or (left <= {SPARE} and even)) else 0",
    ]
    values = ("met", "stopped", "selector", "left", "plain", "prefixed", "foreign", "fits", *kinds.values())
    lines += [f"    note(o, out + {at}, {value})" for at, value in enumerate(values)]
    return "\n".join([*lines, "    return aligned", ""])


def _item(item: ElementItem, letters: int) -> list[str]:
    match item:
        case Align():
            if item.to & (item.to - 1):
                raise UnknownShapeError(f"elements align to {item.to}, no power of two")
            lines = ["if stop == 0:"]
            if item.to > 2:
                lines.append("    aligned = 1")
            condition = "origin != 2 and doubtful != 0" if item.doubtful else "origin != 2"
            return [
                *lines,
                f"    if {condition}:",
                f"        here += (-(offset + here) if origin == 0 else begin - here) & {item.to - 1}",
            ]
        case Guid():
            return _fixed(16)
        case UInt():
            return _fixed(item.width)
        case Ended():
            return [
                "if stop == 0:",
                "    gone = nul_at(a + here, n - here)",
                "    if gone < 0:",
                f"        stop = {_UNTERMINATED}",
                "    else:",
                "        found = name_begins(a + here, gone >> 1)",
                "        if found == 0:",
                "            prefixed += 1",
                f"            note(o, {letters}, 1)",
                "        elif found == 1:",
                "            plain += 1",
                "            if usual_direct(a + here, gone >> 1) != 1:",
                f"                note(o, {letters}, 1)",
                "        elif found == 2:",
                "            foreign += 1",
                "        else:",
                f"            note(o, {letters}, 1)",
                "        here += gone + 2",
            ]
    raise UnknownShapeError(f"no code for {item!r} in an element")


def _fixed(width: int) -> list[str]:
    return [
        "if stop == 0:",
        f"    if here + {width} > n:",
        f"        stop = {_SHORT}",
        "    else:",
        f"        here += {width}",
    ]


def _facts(width: int, kinds: int, spare: int) -> str:
    way_at = 7 + kinds
    lines = [
        "def list_facts(a, n, offset, count, o, block):",
        f"    aligned = walk_list(a, n, offset, count, {_way(WAYS[0])}, o, {spare})",
        "    best = 0",
        "    if aligned != 0:",
        f"        top = trust(o, {spare}, count)",
    ]
    for at, way in enumerate(WAYS[1:], 1):
        lines += [
            f"        walk_list(a, n, offset, count, {_way(way)}, o, {spare + at * width})",
            f"        score = trust(o, {spare + at * width}, count)",
            "        if score > top:",
            "            top = score",
            f"            best = {at}",
        ]
    lines += [
        f"    chosen = {spare} + best * {width}",
        *(f"    note(o, block + {at}, noted(o, chosen + {at}))" for at in range(7)),
        *(f"    note(o, block + {7 + at}, noted(o, chosen + {8 + at}))" for at in range(kinds)),
        f"    note(o, block + {way_at}, best)",
        f"    fits = noted(o, {spare + 7})",
        f"    note(o, block + {way_at + 1}, fits)",
    ]
    for at, _ in enumerate(WAYS[1:], 1):
        other = f"noted(o, {spare + at * width + 7})"
        lines.append(f"    note(o, block + {way_at + 1 + at}, {other} if aligned != 0 else fits)")
    trust = [
        "def trust(o, walked, count):",
        '    """How much a way is to be believed: the order of `elements.best`."""',
        "    met = noted(o, walked)",
        "    left = noted(o, walked + 3)",
        "    fits = noted(o, walked + 7)",
        "    score = fits * 4",
        "    if fits != 0 and met == count:",
        "        score += 2",
        "    if fits != 0 and left == 0:",
        "        score += 1",
        "    return (score << 40) + met",
        "",
    ]
    return "\n".join([*trust, *lines, "    return 0", ""])


def _way(way: str) -> str:
    origin, _, doubtful = way.partition(".")
    number = {"header": 0, "element": 1, "none": 2}.get(origin)
    if number is None or doubtful not in ("", "packed", "aligned"):
        raise UnknownShapeError(f"no code for the way {way}")
    return f"{number}, {0 if doubtful == 'packed' else 1}"


TEXT_FACTS = ("Terminated", "Inner", "Odd")


@dataclass(slots=True)
class _Walker:
    """The walker of one section, while it is being written."""

    section: Section
    shapes: Shapes
    lines: list[str] = field(default_factory=list)
    anchored: bool = False

    def put(self, line: str, depth: int) -> None:
        self.lines.append("    " * depth + line)

    def steps(self, steps: tuple[Step, ...], given: tuple[Presence, ...], depth: int) -> None:
        for step in steps:
            match step:
                case Run():
                    self.run(step, given, depth)
                case Blob():
                    self.blob(step, given, depth)
                case Padding():
                    self.padding(step, given, depth)
                case Branch():
                    self.branch(step, given, depth)
                case _:
                    raise UnknownShapeError(f"no code for {step!r}")

    def run(self, step: Run, given: tuple[Presence, ...], depth: int) -> None:
        first = not self.anchored and not given
        self.anchored = True
        self.put(f"if at + {step.struct.size} > end:", depth)
        self.put("return -1", depth + 1)
        if given:
            self.apart(step, given, depth)
        else:
            name = self.section.name if first else f"{self.section.name}@{step.fields[0][0]}"
            anchor = self.shapes.slot(name)
            if not first:
                self.put(f"note(o, {anchor}, at)", depth)
            self.put(f"a{anchor} = p + at", depth)
            for key, offset, width, is_guid in step.fields:
                self.field(key, given, anchor, offset, width, is_guid, step)
        self.put(f"at += {step.struct.size}", depth)

    def apart(self, step: Run, given: tuple[Presence, ...], depth: int) -> None:
        """Give each field under a condition an anchor of its own: another condition may put it at another place."""
        for key, offset, width, is_guid in step.fields:
            anchor = self.shapes.slot(f"{key}@")
            self.put(f"note(o, {anchor}, at + {offset})", depth)
            self.put(f"a{anchor} = p + at + {offset}", depth)
            self.field(key, given, anchor, 0, width, is_guid, step)

    def field(
        self, key: str, given: tuple[Presence, ...], anchor: int, offset: int, width: int, is_guid: bool, step: Run
    ) -> None:
        name, sort = self.section.name, Sort.GUID if is_guid else Sort.NUMBER
        self.add(Place(key, name, sort, given, anchor, offset, width, size=16 if is_guid else 0))
        for bit_key, word, low, mask in step.bits:
            if word == key:
                self.add(Place(bit_key, name, Sort.NUMBER, given, anchor, offset, width, low, mask))

    def add(self, place: Place) -> None:
        self.shapes.add(place)

    def value(self, key: str) -> str:
        """Return the value of a number of this section that was walked over before."""
        return number(self.shapes.place(key))

    def blob(self, step: Blob, given: tuple[Presence, ...], depth: int) -> None:
        anchor, name = self.shapes.slot(f"{step.key}@"), self.section.name
        if step.of:
            length = self.shapes.slot(f"{step.key}#")
            times = f" * {step.length.times}" if step.length.times != 1 else ""
            minus = f" - {step.length.minus}" if step.length.minus else ""
            self.put(f"n{length} = {self.value(step.of)}{times}{minus}", depth)
            if minus:
                self.put(f"if n{length} < 0:", depth)
                self.put("return -1", depth + 1)
            size, there = f"n{length}", (*given, NotEmpty(length))
            place = Place(step.key, name, Sort.BYTES, there, anchor, length=length)
        else:
            size, there = str(step.length.fixed), given
            place = Place(step.key, name, Sort.BYTES, there, anchor, size=step.length.fixed)
        self.put(f"if at + {size} > end:", depth)
        self.put("return -1", depth + 1)
        self.put(f"note(o, {anchor}, at)", depth)
        if step.of:
            self.put(f"note(o, {place.length}, {size})", depth)
        if step.elements is not None:
            block = list_block(self.shapes, step.key, name, given, step.elements)
            count = self.value(step.count)
            self.put(f"list_facts(p + at, {size}, at - start, {count}, o, {block})", depth)
        self.put(f"at += {size}", depth)
        if not step.text:
            self.add(place)
            self.facts(step.key, place, FILLED if step.filled else ())
            return
        self.add(replace(place, sort=Sort.TEXT))
        self.facts(step.key, place, TEXT_FACTS)

    def facts(self, key: str, of: Place, facts: tuple[str, ...]) -> None:
        """Add the places of facts about a field of text."""
        for fact in facts:
            sort = Sort.NUMBER if fact == "Behind" else Sort.FLAG
            self.add(replace(of, key=f"{key}.{fact}", sort=sort, fact=fact))

    def padding(self, step: Padding, given: tuple[Presence, ...], depth: int) -> None:
        if step.to & (step.to - 1):
            raise UnknownShapeError(f"{step.key} aligns to {step.to}, no power of two")
        anchor, need = self.shapes.slot(f"{step.key}@"), self.shapes.slot(f"{step.key}!")
        length, complete = self.shapes.slot(f"{step.key}#"), self.shapes.slot(f"{step.key}.Complete")
        self.put(f"n{need} = (start - at) & {step.to - 1}", depth)
        self.put(f"n{length} = min(n{need}, end - at)", depth)
        self.put(f"note(o, {anchor}, at)", depth)
        self.put(f"note(o, {need}, n{need})", depth)
        self.put(f"note(o, {length}, n{length})", depth)
        self.put(f"note(o, {complete}, 1 if n{need} == n{length} else 0)", depth)
        self.put(f"at += n{length}", depth)
        name = self.section.name
        self.add(Place(step.key, name, Sort.BYTES, (*given, NotEmpty(need)), anchor, length=length))
        self.add(Place(f"{step.key}.Complete", name, Sort.FLAG, given, complete, fact="slot"))

    def branch(self, step: Branch, given: tuple[Presence, ...], depth: int) -> None:
        if step.condition is not None:
            self.put(f"if {met(self.value(step.condition.key), step.condition)} != 0:", depth)
            self.inside(step.options[1], (*given, step.condition), depth)
            return
        self.put(f"by = {self.value(step.by)}", depth)
        word = "if"
        for selector, steps in step.options.items():
            self.put(f"{word} by == {selector}:", depth)
            self.inside(steps, (*given, Condition(step.by, (selector,))), depth)
            word = "elif"
        self.put("else:", depth)
        self.put("return -1", depth + 1)

    def inside(self, steps: tuple[Step, ...], given: tuple[Presence, ...], depth: int) -> None:
        if not steps:
            self.put("pass", depth + 1)
        self.steps(steps, given, depth + 1)


def met(value: str, condition: Condition) -> str:
    """Emit whether a value meets a condition: 0 or 1."""
    among = is_among(value, condition.values)
    return f"(1 - {among})" if condition.negate else among


def function_of(section: Section) -> str:
    """Return the name of a section's walker."""
    return f"walk_{section.name}"


def walker(section: Section, shapes: Shapes) -> str:
    """Emit a section's walker; its places are added to `shapes`."""
    shapes.bit(section.name)
    one = _Walker(section, shapes)
    one.steps(steps_of(section), (), 1)
    if f"{section.name}" not in shapes.slots:
        raise UnknownShapeError(f"{section.name} does not begin with fields of fixed width")
    head = [
        f"def {function_of(section)}(p, at, end, o):",
        f'    """{section.source}"""',
        "    start = at",
        f"    note(o, {shapes.slots[section.name]}, at)",
    ]
    return "\n".join([*head, *one.lines, "    return at"]) + "\n"
