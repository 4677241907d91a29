"""A small LDAP server: a tree of objects, with the operations that a manager needs (RFC 4511, RFC 2696)."""

from __future__ import annotations

import socketserver
import threading
import uuid
from dataclasses import dataclass, field
from typing import Any

ROOT = "DC=example,DC=com"
CONFIGURATION = f"CN=Configuration,{ROOT}"
COMPUTER = f"CN=HOST,CN=Computers,{ROOT}"
Values = dict[str, list[bytes]]
Node = tuple[int, Any]  # a tag and its octets, or its nodes
BIND, UNBIND, SEARCH, MODIFY, ADD, DELETE = 0x60, 0x42, 0x63, 0x66, 0x68, 0x4A
ANSWERS = {BIND: 0x61, SEARCH: 0x65, MODIFY: 0x67, ADD: 0x69, DELETE: 0x6B}
PAGED = b"1.2.840.113556.1.4.319"


def normal(name: str) -> str:
    """The form of a distinguished name in which names are compared."""
    return ",".join(part.strip() for part in name.lower().split(","))


def head(data: bytes) -> tuple[int, int]:
    """Where the value begins and ends; the end is behind the data if it is not there yet."""
    if len(data) < 2 or len(data) < (begin := 2 + (data[1] & 0x7F if data[1] & 0x80 else 0)):
        return 2, len(data) + 1
    return begin, begin + (int.from_bytes(data[2:begin], "big") if data[1] & 0x80 else data[1])


def nodes(data: bytes) -> list[Node]:
    found: list[Node] = []
    while data:
        begin, end = head(data)
        found.append((data[0], nodes(data[begin:end]) if data[0] & 0x20 else data[begin:end]))
        data = data[end:]
    return found


def ber(tag: int, *parts: bytes) -> bytes:
    value = b"".join(parts)
    length = len(value)
    octets = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([tag]) + (bytes([length]) if length < 128 else bytes([0x80 | len(octets)]) + octets) + value


def result(code: int) -> bytes:
    return ber(10, bytes([code])) + ber(4) + ber(4)


@dataclass
class Request:
    """One request: its kind, its nodes, and the page that it asks for."""

    kind: int
    told: Any
    size: int = 1 << 30
    cookie: int = 0


@dataclass
class Tree:
    """The entries, by normal name, with their names and values. codes: what a kind of request is answered.

    spoken: bytes in place of an answer, by kind; none hang up. page: the most entries of a page. asked: each request.
    """

    entries: dict[str, tuple[str, Values]] = field(default_factory=dict)
    codes: dict[int, int] = field(default_factory=dict)
    spoken: dict[int, bytes] = field(default_factory=dict)
    page: int = 1000
    asked: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        contexts = {"rootDomainNamingContext": ROOT, "configurationNamingContext": CONFIGURATION}
        self.entries[""] = "", {name: [text.encode()] for name, text in contexts.items()}
        below = [(ROOT, ("CN=Computers", "CN=Users")), (CONFIGURATION, ("CN=Services", "CN=Sites"))]
        for context, names in below:
            self.put(context, "domainDNS")
            for name in names:
                self.put(f"{name},{context}", "container")
        self.put(COMPUTER, "computer", dNSHostName="host.local", sAMAccountName="HOST$")

    def put(self, name: str, kind: str, identifier: str = "", **values: str | bytes | list[bytes]) -> str:
        """Put an object in the tree; its identifier."""
        made = uuid.UUID(identifier) if identifier else uuid.uuid4()
        lists = {each: [value] if isinstance(value, bytes) else value for each, value in values.items()}
        self.entries[normal(name)] = (
            name,
            {
                "objectClass": [b"top", kind.encode()],
                "objectGUID": [made.bytes_le],
                "whenCreated": [b"20231114221320.0Z"],
                "whenChanged": [b"20231114221321.0Z"],
                "distinguishedName": [name.encode()],
                **{each: [value.encode()] if isinstance(value, str) else value for each, value in lists.items()},
            },
        )
        return str(made)

    def values(self, name: str) -> Values:
        return self.entries[normal(name)][1]

    def perform(self, request: Request) -> tuple[int, list[tuple[str, Values]]]:
        """The result code, and the entries of a search."""
        if request.kind == BIND:
            return self.codes.get(BIND, 0), []
        name = (request.told if isinstance(request.told, bytes) else request.told[0][1]).decode()
        there = normal(name) in self.entries
        if request.kind in self.codes and name:
            return self.codes[request.kind], []
        if request.kind == ADD:
            if there or normal(name).partition(",")[2] not in self.entries:
                return (68 if there else 32), []
            values = {kind.decode(): [value for _, value in found] for _, ((_, kind), (_, found)) in request.told[1][1]}
            assert all(values.values())
            self.put(name, values.pop("objectClass")[0].decode(), **values)
        elif not there:
            return 32, []
        elif request.kind == DELETE:
            del self.entries[normal(name)]
        elif request.kind == MODIFY:
            for _, ((_, operation), (_, ((_, kind), (_, found)))) in request.told[1][1]:
                assert operation == b"\2"
                self.values(name).pop(kind.decode(), None)
                if found:
                    self.values(name)[kind.decode()] = [value for _, value in found]
        elif request.kind == SEARCH:
            return 0, self.search(normal(name), request.told)
        return 0, []

    def search(self, base: str, told: list[Node]) -> list[tuple[str, Values]]:
        wanted = {name.decode().lower() for _, name in told[7][1]}
        return [
            (name, {each: values[each] for each in values if each.lower() in wanted})
            for key, (name, values) in self.entries.items()
            if (key == base or (told[1][1] == b"\2" and key.endswith(base))) and holds(told[6], values)
        ]


def holds(wanted: Node, values: Values) -> bool:
    """Whether values satisfy a filter."""
    tag, inner = wanted
    if tag in (0xA0, 0xA1):
        return (all if tag == 0xA0 else any)(holds(each, values) for each in inner)
    if tag == 0xA2:
        return not holds(inner[0], values)
    lower = {name.lower().encode(): [value.lower() for value in found] for name, found in values.items()}
    if tag == 0x87:
        return inner.lower() in (b"objectclass", *lower)
    (_, name), (_, value) = inner
    present, value = lower.get(name.lower(), []), value.lower()
    if tag == 0xA3:
        return value in present
    order = [((len(one), one), (len(value), value)) for one in present]
    return any(one >= other if tag == 0xA5 else one <= other for one, other in order)


class Conversation(socketserver.BaseRequestHandler):
    """One connection to a server."""

    def handle(self) -> None:
        received = b""
        while chunk := self.request.recv(1 << 16):
            received += chunk
            while len(received) >= (end := head(received)[1]):
                [(_, message)], received = nodes(received[:end]), received[end:]
                if message[1][0] == UNBIND or not self.answer(message):
                    return

    def answer(self, message: list[Node]) -> bool:
        tree: Tree = self.server.tree  # type: ignore[attr-defined]
        (_, number), (kind, told), *controls = message
        request = Request(kind, told)
        for _, ((_, control), (_, value)) in controls[0][1] if controls else ():
            assert control == PAGED
            [(_, ((_, size), (_, cookie)))] = nodes(value)
            request.size, request.cookie = int.from_bytes(size, "big"), int(cookie or b"0")
        tree.asked.append(request)
        if kind in tree.spoken:
            self.request.sendall(tree.spoken[kind])
            return bool(tree.spoken[kind])
        code, entries = tree.perform(request)
        end = request.cookie + min(request.size, tree.page if controls else request.size)
        said = [
            ber(0x64, ber(4, name.encode()), ber(0x30, *(_attribute(each, found) for each, found in values.items())))
            for name, values in entries[request.cookie : end]
        ]
        paged = ber(0x30, ber(2, b"\0"), ber(4, str(end).encode() if end < len(entries) else b""))
        last = ber(0xA0, ber(0x30, ber(4, PAGED), ber(4, paged))) if controls else b""
        answers = [*((one, b"") for one in said), (ber(ANSWERS[kind], result(code)), last)]
        self.request.sendall(b"".join(ber(0x30, ber(2, number), each, beside) for each, beside in answers))
        return True


def _attribute(name: str, values: list[bytes]) -> bytes:
    return ber(0x30, ber(4, name.encode()), ber(0x31, *(ber(4, value) for value in values)))


class LdapServer(socketserver.ThreadingTCPServer):
    """A server of a tree, until it is closed."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Conversation)
        self.tree = Tree()
        self.address = f"ldap://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.shutdown()
        self.server_close()
