"""Families of direct format names, and of names of machines, connectors, multicast addresses and lists."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.judge.names import FORMAT_NAME, MULTIPLE_ELEMENT
from conformance.suites.names import checks as sp
from conformance.suites.names.families import Chapter, Family, Parts, joined

directs = Chapter("2.1.2", FORMAT_NAME, "direct")
SUFFIX = "R-MQMQ-suffix-or-subqueue"
SEPARATOR = "R-MQMQ-http-separator"
SLASH = (SEPARATOR, ("both", "slash"))

Under = Mapping[str, Any]
_V2, _V3, _V4 = "msmq-2.0", "msmq-3.0", "msmq-4.0"


def endpoints() -> SearchStrategy[tuple[str, str]]:
    """Generate protocols of every version, with an address."""
    return st.one_of(
        st.tuples(st.just("OS"), sp.words()),
        st.tuples(st.just("TCP"), sp.addresses()),
    )


def _direct(
    endpoint: tuple[str, str],
    scope: str,
    queue: str,
    suffix: str = "",
    direct: str = "DIRECT",
    keyword: str = "PRIVATE$",
) -> tuple[str, dict[str, Any]]:
    protocol, address = endpoint
    private = f"{keyword}\\" if scope == "private" else ""
    parts = {"protocol": protocol.upper(), "address": address, "scope": scope, "queue": queue}
    return f"{direct}={protocol}:{address}\\{private}{queue}{suffix}", parts


def _scopes() -> SearchStrategy[str]:
    return st.sampled_from(("public", "private"))


def _queues(scope: str, queues: SearchStrategy[str] | None = None) -> SearchStrategy[tuple[str, Parts]]:
    return st.builds(_direct, endpoints(), st.just(scope), queues or sp.words())


def _journals(suffixes: SearchStrategy[str]) -> SearchStrategy[tuple[str, Parts]]:
    def name(endpoint: tuple[str, str], scope: str, queue: str, suffix: str) -> tuple[str, Parts]:
        text, parts = _direct(endpoint, scope, queue, f";{suffix}")
        return text, {**parts, "suffix": "journal"}

    return st.builds(name, endpoints(), _scopes(), sp.words(), suffixes)


def _journals_or_subqueues() -> SearchStrategy[tuple[str, Under]]:
    def under(made: tuple[str, Parts]) -> tuple[str, Under]:
        text, parts = made
        plain = {name: value for name, value in parts.items() if name != "suffix"}
        return text, {"keyword": parts, "subqueue": [parts, {**plain, "subqueue": text.rpartition(";")[2]}]}

    return _journals(st.just("JOURNAL")).map(under)


def _machine_queues() -> SearchStrategy[tuple[str, Under]]:
    def name(endpoint: tuple[str, str], queue: str) -> tuple[str, Under]:
        protocol, address = endpoint
        common = {"protocol": protocol, "address": address}
        system = {**common, "scope": "system", "suffix": queue.lower()}
        public = {**common, "scope": "public", "queue": "SYSTEM$"}
        others = [{**public, "subqueue": queue}, *([{**public, "suffix": "journal"}] if queue == "JOURNAL" else [])]
        return f"DIRECT={protocol}:{address}\\SYSTEM$;{queue}", {"keyword": system, "subqueue": [system, *others]}

    return st.builds(name, endpoints(), st.sampled_from(sp.SYSTEM_QUEUES))


def _mixed_case() -> SearchStrategy[tuple[str, Parts]]:
    def name(direct: str, protocol: str, keyword: str, scope: str, queue: str) -> tuple[str, Parts]:
        address = "HOST" if protocol.upper() == "OS" else "10.0.0.1"
        text, parts = _direct((protocol, address), scope, queue, "", direct, keyword)
        return text, {**parts, "protocol": protocol.upper()}

    protocols = st.one_of(sp.cased("OS"), sp.cased("TCP"))
    return st.builds(name, sp.cased("DIRECT"), protocols, sp.cased("PRIVATE$"), _scopes(), sp.words())


def _subqueues(longest: tuple[int, ...] = (1, 2, 8, 31)) -> SearchStrategy[tuple[str, Parts]]:
    def name(endpoint: tuple[str, str], scope: str, queue: str, subqueue: str) -> tuple[str, Parts]:
        text, parts = _direct(endpoint, scope, queue, f";{subqueue}")
        return text, {**parts, "subqueue": subqueue}

    return st.builds(name, endpoints(), _scopes(), sp.words(), st.one_of(sp.words(), sp.sized(sp.PLAIN, longest)))


def _journals_of_subqueues() -> SearchStrategy[tuple[str, Under]]:
    return _subqueues().map(
        lambda made: (f"{made[0]};JOURNAL", {"refused": None, "accepted": {**made[1], "suffix": "journal"}})
    )


def _hosts() -> SearchStrategy[str]:
    label = sp.spelled(sp.ALPHANUMERIC, 8)
    return st.one_of(st.lists(label, min_size=1, max_size=3).map(".".join), sp.addresses())


def _http(
    protocols: SearchStrategy[str], separators: str, ports: SearchStrategy[str], scopes: SearchStrategy[str]
) -> SearchStrategy[tuple[str, Under]]:
    def name(protocol: str, address: str, separator: str, scope: str, queue: str) -> tuple[str, Under]:
        private = f"private${separator}" if scope == "private" else ""
        parts = {"protocol": protocol, "address": address, "scope": scope, "queue": queue}
        slash = separator == "/"
        under = {"both": parts, "slash": parts if slash else None, "backslash": None if slash else parts}
        return f"DIRECT={protocol}:{address}{separator}{private}{queue}", under

    addresses = joined("//", _hosts(), ports, "/", st.sampled_from(("MSMQ", "msmq", "Msmq")))
    return st.builds(name, protocols, addresses, st.sampled_from(separators), scopes, sp.words())


def _ports(*, least: int = 1, most: int = sp.PORTS) -> SearchStrategy[str]:
    return st.one_of(st.just(""), st.integers(least, most).map(lambda port: f":{port}"))


def _over_web(protocol: str, version: int) -> SearchStrategy[tuple[str, Under]]:
    return _http(st.just(protocol), "/", _ports(), st.just("public"))


def _http_port(reading: str) -> SearchStrategy[tuple[str, Under]]:
    """Ports on which the readings differ, in names with a slash after /MSMQ."""
    empty = reading == "R-MQMQ-http-port-empty"
    ports = st.just(":") if empty else st.integers(sp.PORTS + 1, 99999).map(lambda port: f":{port}")
    made = _http(st.sampled_from(("HTTP", "HTTPS")), "/", ports, st.just("public"))
    return made.map(lambda pair: (pair[0], {"accepted": pair[1]["both"], "refused": None}))


def _ipx(scope: str | None = None) -> SearchStrategy[tuple[str, Under]]:
    def name(protocol: str, network: int, node: int, scope: str, queue: str) -> tuple[str, Under]:
        mark = ":" if protocol == "IPX" else "."
        text, parts = _direct((protocol, f"{network:08X}{mark}{node:012X}"), scope, queue)
        own = protocol.lower()
        return text, {
            "either": parts,
            "ipx": parts if own == "ipx" else None,
            "spx": parts if own == "spx" else None,
            "neither": None,
        }

    protocols = st.just("IPX") if scope else st.sampled_from(("IPX", "SPX"))
    numbers = st.integers(0, 0xFFFFFFFF), st.integers(0, 0xFFFFFFFFFFFF)
    return st.builds(name, protocols, *numbers, st.just(scope) if scope else st.just("public"), sp.words())


def _ipv6() -> SearchStrategy[tuple[str, Under]]:
    groups = st.lists(st.integers(0, 0xFFFF).map("{:x}".format), min_size=8, max_size=8).map(":".join)
    tails = st.lists(st.integers(1, 0xFFFF).map("{:x}".format), min_size=1, max_size=5).map(":".join)
    addresses = st.one_of(groups, tails.map("fe80::".__add__))

    def name(address: str, scope: str, queue: str) -> tuple[str, Under]:
        text, parts = _direct(("TCP", address), scope, queue)
        return text, {"both": parts, "ipv4": None}

    return st.builds(name, addresses, st.just("public"), sp.words())


def _unknown_system_queues() -> SearchStrategy[tuple[str, Under]]:
    def name(computer: str, queue: str) -> tuple[str, Under]:
        parts = {"protocol": "OS", "address": computer, "scope": "public", "queue": "SYSTEM$", "subqueue": queue}
        return f"DIRECT=OS:{computer}\\SYSTEM$;{queue}", {"keyword": None, "subqueue": parts}

    return st.builds(name, sp.words(), sp.words())


def prefix() -> SearchStrategy[str]:
    """Generate the part of a direct name before its queue name: protocol, address, scope."""
    return st.builds(
        lambda endpoint, private: f"DIRECT={endpoint[0]}:{endpoint[1]}\\{private}",
        endpoints(),
        st.sampled_from(("", "PRIVATE$\\")),
    )


def bad_queues() -> SearchStrategy[str]:
    """Generate direct names with an invalid queue name: too long, or with a character that no version allows."""
    never = sp.CONTROLS + "\\"
    return joined(prefix(), st.one_of(sp.with_one(never), sp.sized(sp.PLAIN, (125, 126, 200, 256, 257))))


def _no_protocol() -> SearchStrategy[str]:
    known = {"OS", "TCP", "HTTP", "HTTPS", "IPX", "SPX"}
    word = sp.spelled(sp.LETTERS, 8).filter(lambda text: text.upper() not in known)
    # A careless comparison takes a protocol with one character more or less.
    near = st.sampled_from(("O", "OSS", "XOS", "TC", "TCPX", "TCP6", "O S", " OS", "OS "))
    return st.one_of(word, near)


def _no_prefix() -> SearchStrategy[str]:
    known = {"DIRECT", "PUBLIC", "PRIVATE", "DL", "MACHINE", "CONNECTOR", "MULTICAST"}
    word = sp.spelled(sp.LETTERS, 10).filter(lambda text: text.upper() not in known)
    near = st.sampled_from(("DIREC", "DIRECTS", "XDIRECT", " DIRECT", "DIRECT ", "DIRECT=DIRECT", "DİRECT", "ＤIRECT"))
    return st.one_of(word, near)


def _declare_queues() -> None:
    directs.accept("public-queue", "PublicQueuePath", lambda _: _queues("public"))
    directs.accept("private-queue", "PrivateQueuePath", lambda _: _queues("private"))
    directs.disputed("machine-queue", "MachineQueuePath", SUFFIX, lambda _: _machine_queues(), since=_V2)
    directs.accept("journal", "PrivateQueuePath", lambda _: _journals(st.just("JOURNAL")), until=_V3)
    directs.disputed("journal", "PrivateQueuePath", SUFFIX, lambda _: _journals_or_subqueues(), since=_V4)
    directs.accept("keyword-case", "DirectName", lambda _: _mixed_case())


def _declare_computers() -> None:
    directs.accept(
        "tcp",
        "ProtocolAddressSpecification",
        lambda _: st.builds(_direct, st.tuples(st.just("TCP"), sp.addresses()), st.just("public"), sp.words()),
    )
    directs.reject(
        "tcp-address-reject",
        "ProtocolAddressSpecification",
        lambda _: joined("DIRECT=TCP:", st.one_of(sp.spoiled_addresses(), _no_addresses()), "\\", sp.words()),
    )
    directs.accept(
        "os",
        "ProtocolAddressSpecification",
        lambda _: st.builds(_direct, st.tuples(st.just("OS"), _hosts()), st.just("public"), sp.words()),
    )


def _declare_web() -> None:
    scopes = _scopes()
    for protocol in ("HTTP", "HTTPS"):
        directs.disputed(
            protocol.lower(),
            "ProtocolAddressSpecification",
            SEPARATOR,
            partial(_over_web, protocol),
            since=_V3,
        )
    directs.disputed(
        "http-separator",
        "PrivateQueuePath",
        SEPARATOR,
        lambda _: _http(st.sampled_from(("HTTP", "HTTPS")), "/\\", st.just(""), scopes),
        since=_V3,
    )
    web, ends = st.sampled_from(("DIRECT=HTTP:", "DIRECT=HTTPS:")), st.sampled_from("/\\")
    directs.reject(
        "http-msmq-reject",
        "ProtocolAddressSpecification",
        lambda _: st.one_of(
            joined(web, st.sampled_from(("", "/")), _hosts(), "/msmq", ends, sp.words()),
            joined(web, "//", _hosts(), st.sampled_from(("", "/msm", "/msmqx", "/xmsmq", "/ msmq")), ends, _no_msmq()),
        ),
        since=_V3,
    )
    directs.reject(
        "http-port-reject",
        "Port",
        lambda _: joined(
            web, "//", _hosts(), ":", sp.with_one("-+xA٣１.", st.integers(0, 99999).map(str)), "/msmq", ends, sp.words()
        ),
        since=_V3,
    )
    directs.disputed(
        "http-port-empty",
        "Port",
        "R-MQMQ-http-port-empty",
        lambda _: _http_port("R-MQMQ-http-port-empty"),
        since=_V3,
        given=SLASH,
    )
    directs.disputed(
        "http-port-range",
        "Port",
        "R-MQMQ-http-port-range",
        lambda _: _http_port("R-MQMQ-http-port-range"),
        since=_V3,
        given=SLASH,
    )


def _declare_networks() -> None:
    directs.disputed("protocol-reject", "Protocol", "R-MQMQ-ipx", lambda _: _ipx())
    directs.disputed("ipx", "ProtocolAddressSpecification", "R-MQMQ-ipx", lambda _: _ipx("private"))
    directs.disputed("tcp-ipv6", "ProtocolAddressSpecification", "R-MQMQ-tcp-ipv6", lambda _: _ipv6(), since=_V4)


def _declare_lacks() -> None:
    directs.reject("prefix-reject", "FormatName", lambda _: joined(_no_prefix(), "=OS:", sp.words(), "\\", sp.words()))
    directs.reject(
        "protocol-reject", "Protocol", lambda _: joined("DIRECT=", _no_protocol(), ":", sp.words(), "\\", sp.words())
    )
    directs.reject(
        "protocol-missing",
        "Protocol",
        lambda _: joined("DIRECT=", st.sampled_from(("", ":", "OS", "TCP")), sp.words(), "\\", sp.words()),
    )
    directs.reject(
        "address-missing",
        "ProtocolAddressSpecification",
        lambda _: joined(
            "DIRECT=", st.sampled_from(("OS", "TCP")), ":\\", st.sampled_from(("", "PRIVATE$\\")), sp.words()
        ),
    )
    directs.reject(
        "queue-name-missing", "QueueName", lambda _: joined(prefix(), st.sampled_from(("", ";JOURNAL", ";journal")))
    )
    directs.reject("queue-name-reject", "QueueName", lambda _: bad_queues())
    directs.reject("queue-name-reject", "QueueName", lambda _: joined(prefix(), sp.with_one('+,"')), since=_V2)


def _declare_suffixes() -> None:
    directs.accept("subqueue", "Subqueue", lambda _: _subqueues(), since=_V4)
    directs.reject(
        "suffix-reject", "PrivateQueuePath", lambda _: joined(prefix(), sp.words(), ";", sp.words()), until=_V3
    )
    directs.reject(
        "suffix-empty-reject",
        "PrivateQueuePath",
        lambda _: joined(prefix(), sp.words(), st.sampled_from((";", ";;JOURNAL", ";JOURNAL;"))),
    )
    directs.disputed("system-queue-reject", "MachineQueuePath", SUFFIX, lambda _: _unknown_system_queues(), since=_V4)
    directs.reject(
        "system-queue-reject",
        "MachineQueuePath",
        lambda _: joined("DIRECT=OS:", sp.words(), "\\SYSTEM$;", sp.words()),
        since=_V2,
        until=_V3,
    )
    directs.disputed(
        "journal-of-subqueue",
        "PrivateQueuePath",
        "R-MQMQ-journal-of-subqueue",
        lambda _: _journals_of_subqueues(),
        since=_V4,
    )


def _no_msmq() -> SearchStrategy[str]:
    return sp.words().filter(lambda text: text.casefold() != "msmq")


def _no_addresses() -> SearchStrategy[str]:
    """Generate words with a letter that no notation of an address has."""
    return joined(sp.words(), st.sampled_from("ghklmnoprstuvwyz"))


_declare_queues()
_declare_computers()
_declare_web()
_declare_networks()
_declare_lacks()
_declare_suffixes()
DIRECT_FAMILIES: tuple[Family, ...] = tuple(directs.families)

machines = Chapter("2.1.6", FORMAT_NAME)
multiples = Chapter("2.1.7", MULTIPLE_ELEMENT, "multiple_element")

_MSMQ_3 = "msmq-3.0"
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
        since=_MSMQ_3,
    )
    machines.accept(
        "port",
        "Port",
        lambda _: _multicasts(st.just(_ADDRESS), _ports_of_the_letter(), plain),
        kind="multicast",
        since=_MSMQ_3,
    )
    machines.disputed(
        "port", "Port", "R-MQMQ-port", lambda _: _ports_beyond_the_letter(), kind="multicast", since=_MSMQ_3
    )
    machines.disputed(
        "port-zero-reject",
        "Port",
        "R-MQMQ-port-zeros",
        lambda _: _ports_with_zeros(),
        kind="multicast",
        since=_MSMQ_3,
    )
    address = st.just(f"{own}{_ADDRESS}:")
    too_large = st.one_of(st.integers(65536, 99999), st.integers(100000, 1 << 70)).map(str)
    wrong = sp.with_one("-+ xA_.:;\0\n１٣", st.integers(0, 6553).map(str))
    machines.reject("port-range-reject", "Port", lambda _: joined(address, st.one_of(too_large, wrong)), since=_MSMQ_3)
    machines.reject(
        "port-missing",
        "Multicast",
        lambda _: joined(own, sp.multicast_addresses(), st.sampled_from(("", ":", ";JOURNAL"))),
        since=_MSMQ_3,
    )
    machines.reject("octet-range-reject", "dec-octet", lambda _: joined(own, _large_octets(), ":1801"), since=_MSMQ_3)
    machines.reject(
        "octet-zero-reject", "dec-octet", lambda _: joined(own, _octets_with_zeros(), ":1801"), since=_MSMQ_3
    )
    machines.reject(
        "first-octet-reject", "dec-octet1", lambda _: joined(own, sp.other_addresses(), ":1801"), since=_MSMQ_3
    )
    machines.reject("address-reject", "Address", lambda _: joined(own, _no_address(), ":1801"), since=_MSMQ_3)


def elements() -> SearchStrategy[str]:
    """Generate undisputed format names that may be elements of a multiple-element name."""
    guid = sp.guids()
    return st.one_of(
        joined(prefix(), sp.words()),
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
        st.lists(joined(prefix(), sp.words()), min_size=2, max_size=5),
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
        joined(prefix(), sp.words(), ";JOURNAL"),
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
    multiples.accept("elements", "MultipleElementName", lambda _: _named(_same_kind()), since=_MSMQ_3)
    mixed = st.lists(elements(), min_size=2, max_size=12)
    multiples.accept("mixed", "MultipleElementName", lambda _: _named(mixed), since=_MSMQ_3)
    multiples.disputed("single", "MultipleElementName", "R-MQMQ-single-element", lambda _: _singles(), since=_MSMQ_3)
    multiples.disputed("parts", "MultipleElementName", "R-MQMQ-comma", lambda _: _lists_with_domain(), since=_MSMQ_3)
    multiples.reject("empty-element-reject", "MultipleElementName", lambda _: _among(st.just("")), since=_MSMQ_3)
    others = st.sampled_from((";", " ", "|", "", "\n", "\t", "\0", "、", "，", "&", "/"))
    public = joined("PUBLIC=", sp.guids())
    multiples.reject("separator-reject", "MultipleElementName", lambda _: joined(public, others, public), since=_MSMQ_3)
    multiples.reject("element-reject", "FormatName", lambda _: _among(_no_elements()), since=_MSMQ_3)
    machine = joined("MACHINE=", sp.guids(), st.sampled_from(("", *(f";{queue}" for queue in sp.SYSTEM_QUEUES))))
    multiples.reject("machine-reject", "FormatName", lambda _: _among(machine), since=_MSMQ_3)
    multiples.disputed(
        "read-only-reject", "FormatName", "R-MQMQ-read-only-element", lambda _: _read_only(), since=_MSMQ_3
    )


_declare_machines()
_declare_multicasts()
_declare_multiples()
MACHINE_FAMILIES: tuple[Family, ...] = tuple(machines.families)
MULTIPLE_FAMILIES: tuple[Family, ...] = tuple(multiples.families)
