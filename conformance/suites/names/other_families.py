"""Generated machine, connector, multicast and multiple-element format names (MS-MQMQ 2.1.6, 2.1.7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.judge.names import FORMAT_NAME, MULTIPLE_ELEMENT
from conformance.suites.names import spelling as sp
from conformance.suites.names.direct_families import prefix as direct_prefix
from conformance.suites.names.families import Chapter, Family, Parts
from conformance.suites.names.path_families import joined

machines = Chapter("2.1.6", FORMAT_NAME)
multiples = Chapter("2.1.7", MULTIPLE_ELEMENT, "multiple_element")

Under = Mapping[str, Any]
_V3 = "msmq-3.0"
_MACHINE = "R-MQMQ-machine-suffix"
_ADDRESS = "234.1.1.1"


def _machine_suffixes() -> SearchStrategy[tuple[str, Under]]:
    return st.builds(
        lambda prefix, guid, suffix: (
            f"{prefix}={guid};{suffix}",
            {"required": {"guid": guid, "suffix": suffix.lower()}, "none": None},
        ),
        sp.cased("MACHINE"),
        sp.guids(),
        st.sampled_from(sp.SYSTEM_QUEUES).flatmap(sp.cased),
    )


def _bare_machines() -> SearchStrategy[tuple[str, Under]]:
    return st.builds(
        lambda prefix, guid: (f"{prefix}={guid}", {"required": None, "none": {"guid": guid}}),
        sp.cased("MACHINE"),
        sp.guids(),
    )


def _connectors() -> SearchStrategy[tuple[str, Parts]]:
    return st.builds(lambda prefix, guid: (f"{prefix}={guid}", {"guid": guid}), sp.cased("CONNECTOR"), sp.guids())


def _transactional_connectors() -> SearchStrategy[tuple[str, Under]]:
    return st.builds(
        lambda guid, suffix: (
            f"CONNECTOR={guid};{suffix}",
            {"optional": {"guid": guid, "suffix": "xactonly"}, "none": None},
        ),
        sp.guids(),
        sp.cased("XACTONLY"),
    )


def _multicasts(
    addresses: SearchStrategy[str], ports: SearchStrategy[int], prefixes: SearchStrategy[str]
) -> SearchStrategy[tuple[str, Parts]]:
    return st.builds(
        lambda prefix, address, port: (f"{prefix}={address}:{port}", {"address": address, "port": port}),
        prefixes,
        addresses,
        ports,
    )


def _ports_of_the_letter() -> SearchStrategy[int]:
    boundaries = (0, 9, 10, 19, 100, 199, 1000, 1999, 10000, 32767, 32768, 49151, 59999, 60000, 65529, 65530, 65535)
    return st.one_of(st.sampled_from(boundaries), st.integers(10000, sp.PORTS), st.integers(1000, 1999))


def _ports_beyond_the_letter() -> SearchStrategy[tuple[str, Under]]:
    boundaries = st.sampled_from((20, 99, 200, 999, 2000, 9999))
    ports = st.one_of(boundaries, st.integers(20, 9999)).filter(lambda port: not sp.port_of_the_letter(port))
    return _multicasts(st.just(_ADDRESS), ports, st.just("MULTICAST")).map(
        lambda made: (made[0], {"all": made[1], "letter": None})
    )


def _ports_with_zeros() -> SearchStrategy[tuple[str, Under]]:
    def name(port: int, width: int) -> tuple[str, Under]:
        digits = str(port).zfill(max(width, len(str(port)) + 1))
        return f"MULTICAST={_ADDRESS}:{digits}", {"refused": None, "accepted": {"address": _ADDRESS, "port": port}}

    return st.builds(name, st.integers(0, 9999), st.integers(2, 5))


def _large_octets() -> SearchStrategy[str]:
    octets = st.integers(0, 255).map(str)
    large = st.one_of(st.sampled_from((256, 257, 260, 300, 999)), st.integers(256, 99999)).map(str)
    first = st.integers(*sp.MULTICAST_OCTETS).map(str)
    return st.tuples(first, large, octets, octets, st.integers(0, 2)).map(_placed)


def _octets_with_zeros() -> SearchStrategy[str]:
    octets = st.integers(0, 255).map(str)
    zeros = st.integers(0, 99).map(lambda number: f"0{number}")
    return st.tuples(st.just("234"), zeros, octets, octets, st.integers(0, 2)).map(_placed)


def _placed(drawn: tuple[str, str, str, str, int]) -> str:
    """Join the first octet and three others, with the special one at one of their places."""
    first, special, one, other, at = drawn
    rest = [one, other]
    rest.insert(at, special)
    return ".".join((first, *rest))


def _no_address() -> SearchStrategy[str]:
    octet = st.integers(0, 255).map(str)
    missing = st.tuples(st.just("234"), octet, octet).map(".".join)
    more = st.tuples(st.just("234"), octet, octet, octet, octet).map(".".join)
    empty = st.tuples(st.just("234"), octet, st.just(""), octet).map(".".join)
    wrong = sp.with_one("x ,-+/１", st.just(_ADDRESS))
    return st.one_of(missing, more, empty, wrong, sp.words())


def _declare_machines() -> None:
    machines.disputed("machine", "Machine", _MACHINE, lambda _: _bare_machines(), kind="machine")
    machines.disputed("machine-suffix", "Machine", _MACHINE, lambda _: _machine_suffixes(), kind="machine")
    fixed = st.sampled_from((";", ";XACTONLY", ";JOURNALS", ";JOURNAL;JOURNAL", ";JOURNAL ", "JOURNAL", "\\JOURNAL"))
    wrong = st.one_of(fixed, joined(";", sp.words()))
    machines.reject("machine-suffix", "Machine", lambda _: joined("MACHINE=", sp.guids(), wrong))
    machines.reject(
        "machine-guid-reject",
        "Guid",
        lambda _: joined("MACHINE=", sp.spoiled_guids(), ";", st.sampled_from(sp.SYSTEM_QUEUES)),
    )
    machines.accept("connector", "Connector", lambda _: _connectors(), kind="connector")
    machines.disputed(
        "connector-suffix",
        "Connector",
        "R-MQMQ-connector-suffix",
        lambda _: _transactional_connectors(),
        kind="connector",
    )
    other = st.one_of(
        st.sampled_from((";", ";JOURNAL", ";DEADLETTER", ";DEADXACT", ";XACTONL", ";XACTONLY;", "XACTONLY")),
        joined(";", sp.words()),
    )
    machines.reject("connector-suffix", "Connector", lambda _: joined("CONNECTOR=", sp.guids(), other))
    machines.reject("connector-guid-reject", "Guid", lambda _: joined("CONNECTOR=", sp.spoiled_guids()))


def _declare_multicasts() -> None:
    own, plain = "MULTICAST=", st.just("MULTICAST")
    port = st.just(1801)
    machines.accept(
        "multicast",
        "Multicast",
        lambda _: _multicasts(sp.multicast_addresses(), port, sp.cased("MULTICAST")),
        kind="multicast",
        since=_V3,
    )
    machines.accept(
        "port",
        "Port",
        lambda _: _multicasts(st.just(_ADDRESS), _ports_of_the_letter(), plain),
        kind="multicast",
        since=_V3,
    )
    machines.disputed("port", "Port", "R-MQMQ-port", lambda _: _ports_beyond_the_letter(), kind="multicast", since=_V3)
    machines.disputed(
        "port-zero-reject",
        "Port",
        "R-MQMQ-port-zeros",
        lambda _: _ports_with_zeros(),
        kind="multicast",
        since=_V3,
    )
    address = st.just(f"{own}{_ADDRESS}:")
    too_large = st.one_of(st.integers(65536, 99999), st.integers(100000, 1 << 70)).map(str)
    wrong = sp.with_one("-+ xA_.:;\0\n１٣", st.integers(0, 6553).map(str))
    machines.reject("port-range-reject", "Port", lambda _: joined(address, st.one_of(too_large, wrong)), since=_V3)
    machines.reject(
        "port-missing",
        "Multicast",
        lambda _: joined(own, sp.multicast_addresses(), st.sampled_from(("", ":", ";JOURNAL"))),
        since=_V3,
    )
    machines.reject("octet-range-reject", "dec-octet", lambda _: joined(own, _large_octets(), ":1801"), since=_V3)
    machines.reject("octet-zero-reject", "dec-octet", lambda _: joined(own, _octets_with_zeros(), ":1801"), since=_V3)
    machines.reject("first-octet-reject", "dec-octet1", lambda _: joined(own, sp.other_addresses(), ":1801"), since=_V3)
    machines.reject("address-reject", "Address", lambda _: joined(own, _no_address(), ":1801"), since=_V3)


def elements() -> SearchStrategy[str]:
    """Generate undisputed format names that may be elements of a multiple-element name."""
    guid = sp.guids()
    return st.one_of(
        joined(direct_prefix(), sp.words()),
        joined("PUBLIC=", guid),
        joined("PRIVATE=", guid, "\\", sp.spelled(sp.HEX_DIGITS, 8)),
        joined("DL=", guid),
        joined("CONNECTOR=", guid),
        joined("MULTICAST=", sp.multicast_addresses(), ":1801"),
    )


def _named(some: SearchStrategy[list[str]]) -> SearchStrategy[tuple[str, Parts]]:
    return some.map(lambda names: (",".join(names), {"elements": names}))


def _same_kind() -> SearchStrategy[list[str]]:
    guid = sp.guids()
    return st.one_of(
        st.lists(joined(direct_prefix(), sp.words()), min_size=2, max_size=5),
        st.lists(joined("PUBLIC=", guid), min_size=2, max_size=12),
        st.lists(joined("DL=", guid), min_size=2, max_size=5),
    )


def _singles() -> SearchStrategy[tuple[str, Under]]:
    """Generate names that match two rules; the cases of their own section judge them alone."""
    return st.builds(
        lambda guid: (
            f"PUBLIC={guid}",
            {"two-or-more": [None, {"kind": "public", "guid": guid}], "one-or-more": {"elements": [f"PUBLIC={guid}"]}},
        ),
        sp.guids(),
    )


def _lists_with_domain() -> SearchStrategy[tuple[str, Under]]:
    def name(guid: str, domain: str, other: str) -> tuple[str, Under]:
        first = f"DL={guid}@{domain}"
        both, one = {"elements": [first, other]}, {"elements": [f"{first},{other}"]}
        return f"{first},{other}", {"separates": both, "belongs": [both, one]}

    return st.builds(name, sp.guids(), sp.words(), elements())


def _among(special: SearchStrategy[str], at_least: int = 1) -> SearchStrategy[str]:
    """Generate multiple-element names with a special text at any place among valid elements."""
    return st.builds(
        lambda names, what, at: ",".join([*names[: at % (len(names) + 1)], what, *names[at % (len(names) + 1) :]]),
        st.lists(elements(), min_size=at_least, max_size=3),
        special,
        st.integers(0, 3),
    )


def _no_elements() -> SearchStrategy[str]:
    return st.one_of(
        joined("PUBLIC=", sp.spoiled_guids()),
        sp.words(),
        joined(sp.words(), "\\", sp.words()),
        joined("DIRECT=", sp.words(), "\\", sp.words()),
        joined(" PUBLIC=", sp.guids()),
        joined("MULTICAST=", sp.other_addresses(), ":1801"),
    )


def _read_only() -> SearchStrategy[tuple[str, Under]]:
    guid = sp.guids()
    own = st.one_of(
        joined("PRIVATE=", guid, "\\1;JOURNAL"),
        joined(direct_prefix(), sp.words(), ";JOURNAL"),
        joined("DIRECT=OS:", sp.words(), "\\SYSTEM$;", st.sampled_from(sp.SYSTEM_QUEUES)),
    )
    return st.builds(
        lambda one, other, first: (
            ",".join((one, other) if first else (other, one)),
            {"parsed": None, "opened": {"elements": [one, other] if first else [other, one]}},
        ),
        own,
        elements(),
        st.booleans(),
    )


def _declare_multiples() -> None:
    multiples.accept("elements", "MultipleElementName", lambda _: _named(_same_kind()), since=_V3)
    mixed = st.lists(elements(), min_size=2, max_size=12)
    multiples.accept("mixed", "MultipleElementName", lambda _: _named(mixed), since=_V3)
    multiples.disputed("single", "MultipleElementName", "R-MQMQ-single-element", lambda _: _singles(), since=_V3)
    multiples.disputed("parts", "MultipleElementName", "R-MQMQ-comma", lambda _: _lists_with_domain(), since=_V3)
    multiples.reject("empty-element-reject", "MultipleElementName", lambda _: _among(st.just("")), since=_V3)
    others = st.sampled_from((";", " ", "|", "", "\n", "\t", "\0", "、", "，", "&", "/"))
    public = joined("PUBLIC=", sp.guids())
    multiples.reject("separator-reject", "MultipleElementName", lambda _: joined(public, others, public), since=_V3)
    multiples.reject("element-reject", "FormatName", lambda _: _among(_no_elements()), since=_V3)
    machine = joined("MACHINE=", sp.guids(), st.sampled_from(("", *(f";{queue}" for queue in sp.SYSTEM_QUEUES))))
    multiples.reject("machine-reject", "FormatName", lambda _: _among(machine), since=_V3)
    multiples.disputed("read-only-reject", "FormatName", "R-MQMQ-read-only-element", lambda _: _read_only(), since=_V3)


_declare_machines()
_declare_multicasts()
_declare_multiples()
MACHINE_FAMILIES: tuple[Family, ...] = tuple(machines.families)
MULTIPLE_FAMILIES: tuple[Family, ...] = tuple(multiples.families)
