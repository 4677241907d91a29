"""Hypothesis strategies for the pieces of generated names: words, addresses, GUIDs, and each spoiled by one edit.

A spoiled piece breaks its rule by construction (a character or a length that the rule never has), so that no parser of
the harness decides what an implementation must refuse.
"""

from __future__ import annotations

import string
from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
LETTERS, HEX_DIGITS = string.ascii_letters, string.hexdigits
ALPHANUMERIC = LETTERS + string.digits
PLAIN = ALPHANUMERIC + "-_."
CONTROLS = "".join(map(chr, range(0x20)))
COMPUTER = "".join(char for char in PRINTABLE if char not in "\\;,")  # the characters that no reading disputes
SYSTEM_QUEUES = ("JOURNAL", "DEADLETTER", "DEADXACT")
KEYWORDS = frozenset({"journal", "deadletter", "deadxact", "xactonly", "private$", "system$"})
LONGEST_QUEUE = 124
MULTICAST_OCTETS = (224, 239)
PORTS = 65535

_NO_HEX = "GZgz_.:xX١Ａ "  # never in a GUID, and never the start of what may follow one


def queue_alphabet(version: int) -> str:
    """Return the characters of a queue name that no reading disputes; MSMQ 2.0 forbids three more than 1.0."""
    without = "\\;" if version == 1 else '\\;+,"'
    return "".join(char for char in PRINTABLE if char not in without)


SUBQUEUE = queue_alphabet(4)


def _no_keyword(text: str) -> bool:
    return text.casefold() not in KEYWORDS


def spelled(alphabet: str, longest: int) -> SearchStrategy[str]:
    """Generate 1 to `longest` characters of an alphabet from one number; a draw per character would be slow."""
    base = len(alphabet)
    return st.integers(0, sum(base**length for length in range(1, longest + 1)) - 1).map(
        lambda number: _spelling(alphabet, base, number)
    )


def _spelling(alphabet: str, base: int, number: int) -> str:
    chars = []
    number += 1
    while number:
        number, at = divmod(number - 1, base)
        chars.append(alphabet[at])
    return "".join(chars)


def words() -> SearchStrategy[str]:
    """Generate 1 to 11 plain characters, a letter first: an undisputed name of a computer, queue or subqueue."""
    return spelled(PLAIN, 10).map(lambda text: text if text[0] in LETTERS else f"q{text}").filter(_no_keyword)


def texts(alphabet: str, longest: int = 16) -> SearchStrategy[str]:
    """Generate up to `longest` characters of an alphabet that are no keyword."""
    return spelled(alphabet, longest).filter(_no_keyword)


def sized(alphabet: str, lengths: Sequence[int]) -> SearchStrategy[str]:
    """Generate texts of exactly these lengths."""
    start = spelled(alphabet, 8)
    return st.builds(lambda start, length: (start * length)[:length], start, st.sampled_from(lengths))


def bad_queues(version: int) -> SearchStrategy[str]:
    """Generate texts that are no queue name, with or without a subqueue: an invalid character, or too long."""
    return st.one_of(
        with_one(CONTROLS + ("" if version == 1 else '+,"')),
        sized(PLAIN, (LONGEST_QUEUE + 1, 126, 127, 200, 256, 257, 1000)),
    )


def with_one(chars: str, inside: SearchStrategy[str] | None = None) -> SearchStrategy[str]:
    """Generate words with one of these characters anywhere, also first or last."""
    return st.builds(_inserted, words() if inside is None else inside, st.sampled_from(chars), st.integers(0, 16))


def within(chars: SearchStrategy[str]) -> SearchStrategy[str]:
    """Generate two words with one of these texts between them."""
    return st.builds(lambda one, between, other: one + between + other, words(), chars, words())


def _inserted(text: str, what: str, at: int) -> str:
    place = at % (len(text) + 1)
    return text[:place] + what + text[place:]


def letters_beyond_ascii() -> SearchStrategy[str]:
    """Generate 1 to 4 letters, digits or symbols outside ASCII."""
    return st.text(st.characters(min_codepoint=0xA1, categories=("L", "Nd", "Sm")), min_size=1, max_size=4)


def cased(keyword: str) -> SearchStrategy[str]:
    """Generate a keyword in any mix of case, often all in one case."""
    every = (1 << len(keyword)) - 1
    return st.one_of(st.sampled_from((0, every)), st.integers(0, every)).map(
        lambda bits: "".join(char.upper() if bits >> place & 1 else char.lower() for place, char in enumerate(keyword))
    )


def guids() -> SearchStrategy[str]:
    """Generate GUIDs with digits of both cases."""
    return st.integers(0, (1 << 160) - 1).map(_guid)


def _guid(drawn: int) -> str:
    upper, number = drawn >> 128, drawn & ((1 << 128) - 1)
    digits = "".join(char.upper() if upper >> place & 1 else char for place, char in enumerate(f"{number:032x}"))
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def spoiled_guids() -> SearchStrategy[str]:
    """Generate GUIDs with an extra, missing or wrong character, a misplaced dash, or something around them."""
    at = st.integers(0, 35)
    return st.one_of(
        st.builds(lambda guid, place: guid[:place] + guid[place + 1 :], guids(), at),
        st.builds(_inserted, guids(), st.sampled_from(HEX_DIGITS), at),
        st.builds(
            lambda guid, place, char: guid[:place] + char + guid[place + 1 :], guids(), at, st.sampled_from(_NO_HEX)
        ),
        st.builds(_moved_dash, guids(), st.sampled_from((8, 13, 18, 23))),
        st.builds(
            lambda guid, around: around[0] + guid + around[1], guids(), st.sampled_from(("{}", "()", "  ", '""'))
        ),
    )


def _moved_dash(guid: str, at: int) -> str:
    return guid[:at] + guid[at + 1] + "-" + guid[at + 2 :]


def addresses() -> SearchStrategy[str]:
    """Generate IPv4 addresses."""
    return _dotted(0, 255)


def spoiled_addresses() -> SearchStrategy[str]:
    """Generate texts that are surely no IP address: a number above 255, five numbers, an empty one, a letter."""
    octets = st.integers(0, 255).map(str)
    large = st.tuples(octets, octets, octets, st.integers(256, 99999).map(str), st.integers(0, 3))
    return st.one_of(
        large.map(lambda five: ".".join(_rotated(five[:4], five[4]))),
        st.tuples(octets, octets, octets, octets, octets).map(".".join),
        st.tuples(octets, st.just(""), octets, octets).map(".".join),
        st.tuples(octets, octets, octets, st.sampled_from("gxz")).map(".".join),
    )


def _rotated(items: Sequence[str], by: int) -> list[str]:
    return [*items[by:], *items[:by]]


def _dotted(least: int, most: int) -> SearchStrategy[str]:
    """Generate IPv4 addresses with a first octet in this range."""
    return st.integers(least << 24, (most << 24) + 0xFFFFFF).map(
        lambda number: ".".join(map(str, number.to_bytes(4, "big")))
    )


def multicast_addresses() -> SearchStrategy[str]:
    """Generate addresses from 224.0.0.0 to 239.255.255.255."""
    return _dotted(*MULTICAST_OCTETS)


def other_addresses() -> SearchStrategy[str]:
    """Generate IPv4 addresses outside the multicast range."""
    return st.one_of(_dotted(0, 223), _dotted(240, 255))


def port_of_the_letter(port: int) -> bool:
    """Return True if the rule Port of MS-MQMQ 2.1.6 derives it as written, which misses some ports below 10000."""
    return port >= 10000 or port < 20 or 100 <= port < 200 or 1000 <= port < 2000
