"""Generated direct format names (MS-MQMQ 2.1.2)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.judge.names import FORMAT_NAME
from conformance.suites.names import spelling as sp
from conformance.suites.names.families import Chapter, Family, Parts
from conformance.suites.names.path_families import joined

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


def _declare() -> None:
    directs.accept("public-queue", "PublicQueuePath", lambda _: _queues("public"))
    directs.accept("private-queue", "PrivateQueuePath", lambda _: _queues("private"))
    directs.disputed("machine-queue", "MachineQueuePath", SUFFIX, lambda _: _machine_queues(), since=_V2)
    directs.accept("journal", "PrivateQueuePath", lambda _: _journals(st.just("JOURNAL")), until=_V3)
    directs.disputed("journal", "PrivateQueuePath", SUFFIX, lambda _: _journals_or_subqueues(), since=_V4)
    directs.accept("keyword-case", "DirectName", lambda _: _mixed_case())

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
    directs.disputed("protocol-reject", "Protocol", "R-MQMQ-ipx", lambda _: _ipx())
    directs.disputed("ipx", "ProtocolAddressSpecification", "R-MQMQ-ipx", lambda _: _ipx("private"))
    directs.disputed("tcp-ipv6", "ProtocolAddressSpecification", "R-MQMQ-tcp-ipv6", lambda _: _ipv6(), since=_V4)

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


_declare()
DIRECT_FAMILIES: tuple[Family, ...] = tuple(directs.families)
