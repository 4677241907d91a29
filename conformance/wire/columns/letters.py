"""Emits code that compares text ignoring case, like Python's `lower` and `upper`, as long as ASCII decides.

A letter beyond ASCII can become several letters, or an ASCII one: where such a letter is decisive, the result is 2,
unknown, and the packet is judged one by one.
"""

from __future__ import annotations

from conformance.wire.columns.shapes import UnknownShapeError

UNKNOWN = 2


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
        "            return 2",
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
