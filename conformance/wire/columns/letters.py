"""Emits code that compares text ignoring case, like Python's `lower` and `upper`, as long as ASCII decides.

A few letters beyond ASCII become an ASCII one, or several letters with one among them: where such a letter is decisive,
the result is 2, unknown, and the packet is judged one by one. All others differ from every ASCII letter.
"""

from __future__ import annotations

from conformance.wire.columns.shapes import UnknownShapeError

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
