"""Generated labels and multicast addresses (MS-MQMQ 2.2.19.3, 2.3.1.8, 2.3.1.23), each with its expected result."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.judge.names import (
    LONGEST_LABEL,
    LONGEST_QUEUE_LABEL,
    MULTICAST_ADDRESS,
    MULTICAST_CLASS,
    MULTICAST_RULE,
    MULTICAST_SHAPE,
    ONE_PORT,
    ONLY,
    PORT_ZEROS,
    PORTS,
    QUEUE_LABEL,
    QUEUE_LABEL_CHARACTERS,
    QUEUE_LABEL_MAXIMUM,
    TextCase,
    units,
)
from conformance.suites.names import spelling as sp

_NARROW = "ab Zß€ЖヲÿĀ,;\\\"'"  # one UTF-16 code unit each
_WIDE = "\U0001f600\U00010330\U0010fffd"  # two code units each
_EDGES = "\x01\t\uffff\ufffe\ufeff\ue000"  # allowed in a message's label like any other character
_ONE = (ONE_PORT, "one")
REFUSED: Mapping[str, bool] = {ONLY: False}


def _sized(length: int, of_two: int, alphabet: str, start: int) -> str:
    """Return a text of `length` UTF-16 code units, with up to `of_two` characters of two units."""
    pairs = min(of_two, length // 2)
    wide = "".join(_WIDE[(start + at) % len(_WIDE)] for at in range(pairs))
    narrow = "".join(alphabet[(start + at) % len(alphabet)] for at in range(length - 2 * pairs))
    return wide + narrow if start % 2 else narrow + wide


def _texts(longest: int, alphabet: str) -> SearchStrategy[str]:
    lengths = st.one_of(
        st.sampled_from((longest - 1, longest, longest, longest + 1, longest + 2, 2 * longest, 4 * longest)),
        st.integers(0, 2 * longest),
    )
    pairs = st.sampled_from((0, 0, 1, longest // 2, longest, 2 * longest))
    return st.builds(_sized, lengths, pairs, st.just(alphabet), st.integers(0, len(alphabet)))


def labels() -> SearchStrategy[str]:
    """Generate labels of messages of about the greatest length, some with a null."""
    with_null = st.builds(
        lambda text, at: text[: at % (len(text) + 1)] + "\0" + text[at % (len(text) + 1) :],
        _texts(LONGEST_LABEL // 4, _NARROW).filter(lambda text: units(text) < LONGEST_LABEL),
        st.integers(0, LONGEST_LABEL),
    )
    return st.one_of(*[_texts(LONGEST_LABEL, _NARROW + _EDGES)] * 4, with_null)


def edge_labels() -> tuple[str, ...]:
    """Return the message labels of every run: empty, the longest, one unit longer, of narrow and of wide characters."""
    longest, wide = LONGEST_LABEL, _WIDE[0]
    pairs = wide * (longest // 2)
    return ("", "x", "x" * longest, "x" * (longest + 1), wide, pairs, f"{pairs}x", pairs + wide, "a\0b")


def edge_queue_labels() -> tuple[TextCase, ...]:
    """Return the queue labels of every run."""
    longest, wide = LONGEST_QUEUE_LABEL, _WIDE[0]
    texts = ("x", "x" * longest, "x" * (longest + 1), wide * (longest // 2), wide * longest, wide * (longest + 1))
    return tuple(map(queue_label, texts))


def edge_multicast_addresses() -> tuple[TextCase, ...]:
    """Return the multicast addresses of every run: the first and last of each range, and one beyond."""
    return (
        *(_plain(address, 1801) for address in ("224.0.0.0", "239.255.255.255", "234.10.99.100")),
        *(_plain("234.1.1.1", port) for port in (0, 19, 199, 1999, 10000, 65535)),
        _none("223.255.255.255:1801", MULTICAST_CLASS),
        _none("240.0.0.0:1801", MULTICAST_CLASS),
        _none("234.1.1.1", MULTICAST_SHAPE),
        _none("234.1.1.1:", MULTICAST_SHAPE),
        _none("234.1.1:1801", MULTICAST_SHAPE),
        _none("234.1.1.1:65536", MULTICAST_RULE),
        _none("234.1.1.256:1801", MULTICAST_RULE),
        _none("234.01.1.1:1801", MULTICAST_RULE),
    )


def queue_labels() -> SearchStrategy[TextCase]:
    """Generate labels of queues of about the greatest length."""
    return _texts(LONGEST_QUEUE_LABEL, _NARROW).map(queue_label)


def queue_label(text: str) -> TextCase:
    """Return the case of one label of a queue."""
    in_units, in_characters = units(text) <= LONGEST_QUEUE_LABEL, len(text) <= LONGEST_QUEUE_LABEL
    if in_units == in_characters:
        return TextCase(QUEUE_LABEL, text, QUEUE_LABEL_MAXIMUM, {ONLY: in_units})
    accepted = {"units": in_units, "characters": in_characters}
    return TextCase(QUEUE_LABEL, text, QUEUE_LABEL_MAXIMUM, accepted, QUEUE_LABEL_CHARACTERS)


def multicast_addresses() -> SearchStrategy[TextCase]:
    """Generate multicast addresses of queues, and texts that are none for one reason."""
    address, port = sp.multicast_addresses(), st.integers(0, 65535).filter(sp.port_of_the_letter)
    octet = st.integers(0, 255)
    large = st.one_of(st.integers(65536, 99999), st.integers(100000, 1 << 40))
    missing = st.sampled_from(("", ":", ";1801", " 1801", "/1801", ":1801:", ":1801 ", ":http"))
    hosts = st.sampled_from(("HOST", "", "[ff02::1]", "234.1.1", "234.1.1.1.1", "234..1.1", " 234.1.1.1", "EA010101"))
    wrong_octets = st.builds(lambda first, rest: f"234.{first}.1.{rest}", st.integers(256, 999), octet)
    zeros = st.builds(lambda first, rest: f"234.0{first}.1.{rest}", octet, octet)
    digits = st.sampled_from(("234.1.1.１", "２34.1.1.1", "234.1.1.1٣", "234.1.1.+1", "234.1.1.-1", "234.1.1.0x1"))
    return st.one_of(
        st.builds(_plain, address, port),
        st.builds(
            lambda one, two: _case(f"{one}:{two}:{two}", MULTICAST_SHAPE, {"one": False, "two": True}), address, port
        ),
        st.builds(
            lambda one, two: _case(f"{one}:{two}", MULTICAST_RULE, {"all": True, "letter": False}, PORTS, _ONE),
            address,
            st.integers(20, 9999).filter(lambda number: not sp.port_of_the_letter(number)),
        ),
        st.builds(
            lambda one, two: _case(
                f"{one}:0{two}", MULTICAST_RULE, {"refused": False, "accepted": True}, PORT_ZEROS, _ONE
            ),
            address,
            st.integers(1000, 1999),
        ),
        st.builds(lambda one, two: _none(f"{one}:{two}", MULTICAST_CLASS), sp.other_addresses(), port),
        st.builds(lambda one, two: _none(f"{one}{two}", MULTICAST_SHAPE), address, missing),
        st.builds(lambda one, two: _none(f"{one}:{two}", MULTICAST_SHAPE), hosts, port),
        st.builds(lambda one, two: _none(f"{one}:{two}", MULTICAST_RULE), st.one_of(wrong_octets, zeros, digits), port),
        st.builds(lambda one, two: _none(f"{one}:{two}", MULTICAST_RULE), address, large),
    )


def _plain(address: str, port: int) -> TextCase:
    return _case(f"{address}:{port}", MULTICAST_RULE, {"one": True, "two": False})


def _case(
    text: str,
    requirement: str,
    accepted: Mapping[str, bool],
    reading: str = ONE_PORT,
    given: tuple[str, str] | None = None,
) -> TextCase:
    return TextCase(MULTICAST_ADDRESS, text, requirement, accepted, reading, given)


def _none(text: str, requirement: str) -> TextCase:
    return TextCase(MULTICAST_ADDRESS, text, requirement, REFUSED)
