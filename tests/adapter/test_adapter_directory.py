"""The directory that the harness holds: what it answers, what it notes of it, and how it is away."""

import json
import socket
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from conformance.adapter import protocol
from conformance.adapter.directory_server import DirectoryServer
from conformance.adapter.directory_store import Store, attributes_of, classes, defaults_of, flaw, ordered, satisfies

NORTH = {"class": "site", "name": "north", "foreign_site": True}
ORDERS = {"class": "queue", "path_name": "A\\orders", "base_priority": 5}


@pytest.fixture
def server() -> Iterator[DirectoryServer]:
    made = DirectoryServer()
    made.desk("open", objects=[NORTH, ORDERS, {"class": "enterprise"}])
    yield made
    made.close()


def talk(server: DirectoryServer, line: bytes, wait_s: float = 10) -> bytes:
    host, _, port = server.listen().partition(":")
    with socket.create_connection((host, int(port)), wait_s) as connection:
        connection.sendall(line)
        return connection.makefile("rb").readline()


def ask(server: DirectoryServer, method: str, **params: Any) -> dict[str, Any]:
    request = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    answer = json.loads(talk(server, json.dumps(request).encode() + b"\n"))
    assert answer["id"] in (7, None)
    return dict(answer.get("result") or answer["error"])


def where(attribute: str, value: Any, operator: str = "EQUALS") -> list[dict[str, Any]]:
    return [{"attribute": attribute, "operator": operator, "value": value}]


def test_an_object_is_read_by_a_filter_with_the_attributes_asked_for(server: DirectoryServer) -> None:
    found = ask(server, "read", **{"class": "queue", "filter": where("path_name", "a\\ORDERS")})
    assert found["object"] | {"quota": 4294967295, "base_priority": 5, "transactional": False} == found["object"]
    part = ask(server, "read", **{"class": "queue", "attributes": ["label", "base_priority"]})
    assert part == {"result": "Success", "object": {"label": "", "base_priority": 5}}
    assert ask(server, "read", **{"class": "queue", "filter": where("path_name", "B\\q")}) == {
        "result": "ObjectNotFound"
    }
    lacking = ask(server, "read", **{"class": "enterprise", "attributes": ["security"]})
    assert lacking == {"result": "AttributeNotFound"}


def test_an_object_is_created_once_changed_and_deleted(server: DirectoryServer) -> None:
    made = ask(server, "create", **{"class": "site", "object": {"name": "south"}})
    assert made["result"] == "Success"
    assert ask(server, "create", **{"class": "site", "object": {"name": "SOUTH"}}) == {"result": "ObjectAlreadyExists"}
    assert ask(server, "create", **{"class": "routing_link", "object": {"actual_cost": 0}}) == {
        "result": "GenericError"
    }
    one = {"class": "site", "identifier": made["identifier"]}
    assert ask(server, "write", **one, object={"name": "west"}) == {"result": "Success"}
    assert [each["name"] for each in server.desk("objects", kind="site")["objects"]] == ["north", "west"]
    assert (
        ask(server, "write", **one, object={"identifier": "00000000-0000-0000-0000-000000000000"})["result"]
        != "Success"
    )
    assert ask(server, "delete", **one) == {"result": "Success"}
    assert ask(server, "delete", **one) == {"result": "ObjectNotFound"}


def test_a_query_gives_the_objects_one_by_one_in_the_order_wanted(server: DirectoryServer) -> None:
    for name, cost in (("b", 7), ("a", 7), ("c", 3)):
        server.desk("put", kind="routing_link", object={"description": name, "actual_cost": cost})
    order = [{"priority": 2, "ascending": False}, {"priority": 1, "ascending": True}]
    begun = ask(
        server, "begin", **{"class": "routing_link", "attributes": ["actual_cost", "description"], "order": order}
    )
    seen = [ask(server, "next", query=begun["query"]) for _ in range(4)]
    assert [each.get("object", {}).get("description") for each in seen] == ["a", "b", "c", None]
    assert seen[3] == {"result": "EndOfData"}
    assert ask(server, "end", query=begun["query"]) == {"result": "Success"}
    assert ask(server, "next", query=begun["query"]) == {"result": "GenericError"}


def test_a_list_has_the_members_that_it_was_given(server: DirectoryServer) -> None:
    made = server.desk("put", kind="distribution_list", object={"members": ["DIRECT=OS:A\\q"]})
    name = f"DL={made['identifier'].upper()}"
    assert ask(server, "resolve", format_name=name) == {"result": "Success", "members": ["DIRECT=OS:A\\q"]}
    assert ask(server, "resolve", format_name="DL=7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10") == {"result": "ObjectNotFound"}


def test_each_request_is_noted_with_its_answer(server: DirectoryServer) -> None:
    ask(server, "read", **{"class": "site"})
    server.desk("lie", method="read", kind="site", answer={"result": "GenericError"})
    assert ask(server, "read", **{"class": "queue"})["result"] == "Success"
    assert ask(server, "read", **{"class": "site"}) == {"result": "GenericError"}
    assert ask(server, "read", **{"class": "site"})["result"] == "Success"
    asked = server.desk("asked")["requests"]
    assert [(each["params"]["class"], each["answer"]["result"]) for each in asked] == [
        ("site", "Success"),
        ("queue", "Success"),
        ("site", "GenericError"),
        ("site", "Success"),
    ]
    assert server.desk("asked") == {"requests": []}


def test_a_closed_directory_takes_no_connection_and_comes_back_at_its_address(server: DirectoryServer) -> None:
    address = server.listen()
    host, _, port = address.partition(":")
    server.desk("turn", mode="closed")
    with pytest.raises(ConnectionError):
        socket.create_connection((host, int(port)), 10)
    assert server.desk("turn", mode="answers") == {"address": address}
    assert ask(server, "read", **{"class": "site"})["result"] == "Success"


def test_a_directory_that_falls_mute_does_what_it_is_asked(server: DirectoryServer) -> None:
    server.desk("turn", mode="mute", after=1)
    assert ask(server, "create", **{"class": "site", "object": {"name": "south"}})["result"] == "Success"
    line = b'{"jsonrpc": "2.0", "id": 7, "method": "create", "params": {"class": "site", "object": {"name": "west"}}}\n'
    with pytest.raises(TimeoutError):
        talk(server, line, 0.2)
    server.desk("turn", mode="answers")
    assert [each["name"] for each in server.desk("objects", kind="site")["objects"]] == ["north", "south", "west"]


def test_a_silent_directory_says_nothing_and_one_that_drops_hangs_up(server: DirectoryServer) -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"read","params":{"class":"site"}}\n'
    server.desk("turn", mode="silent")
    with pytest.raises(TimeoutError):
        talk(server, line, 0.2)
    server.desk("turn", mode="drops")
    assert talk(server, line) == b""


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"nothing\n", -32700),
        (b"[" * 100_000 + b"\n", -32700),
        (b"[]\n", -32600),
        (b'{"id":1,"method":["read"]}\n', -32600),
        (b'{"id":1,"method":"shut"}\n', -32601),
        (b'{"id":1,"method":"read","params":{"class":"moon"}}\n', -32602),
        (b'{"id":1,"method":"read","params":{"class":"site","filter":[{}]}}\n', -32602),
    ],
)
def test_what_is_no_request_is_refused_in_one_line(server: DirectoryServer, line: bytes, code: int) -> None:
    assert json.loads(talk(server, line))["error"]["code"] == code
    assert server.desk("asked") == {"requests": []}


def test_a_line_without_end_is_not_read_for_ever(server: DirectoryServer) -> None:
    host, _, port = server.listen().partition(":")
    with socket.create_connection((host, int(port)), 30) as connection, pytest.raises(OSError):
        for _ in range(200):
            connection.sendall(b"x" * 65_536)


def test_values_without_an_order_satisfy_nothing_but_are_no_end_of_the_server(server: DirectoryServer) -> None:
    assert not satisfies({}, where("name", "x", "NOT-EQUALS"))
    assert ask(server, "read", **{"class": "site", "filter": where("name", 3, "LESS-THAN")}) == {
        "result": "GenericError"
    }
    mixed = ordered([{"name": "b"}, {}, {"name": "a"}], ["name"], [{"priority": 1, "ascending": True}])
    assert [each.get("name") for each in mixed] == [None, "a", "b"]


@pytest.mark.parametrize("kind", classes())
def test_defaults_fit_their_class(kind: str) -> None:
    assert flaw(kind, dict(defaults_of(kind))) is None
    assert "identifier" in attributes_of(kind)


def test_examples_of_the_side_fit_it() -> None:
    for name, method in protocol.document("directory_side")["methods"].items():
        for part in ("params", "result"):
            protocol.compiled(protocol.inlined(method[part]))(method["examples"][0][part])
        assert name


def test_an_object_is_found_as_in_a_list_of_all() -> None:
    """Objects come, change their names, go and come back: each read gives the first that satisfies its filter."""
    store, chosen = Store(), Random(1)
    keys = [f"{digit}a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10" for digit in range(9)]
    for _ in range(600):
        key, path, label = chosen.choice(keys), f"HOST\\{chosen.choice('abc')}", chosen.choice("XYZ")
        what = chosen.choice(("put", "create", "write", "delete"))
        given = {"path_name": path, "label": label, "quota": chosen.randrange(3)}
        if what == "put":
            store.put("queue", given | {"identifier": key.upper()})
        elif what == "create":
            store.answer("create", {"class": "queue", "object": given | {"identifier": key}})
        else:
            store.answer(what, {"class": "queue", "identifier": key, **({"object": given} if what == "write" else {})})
        wanted = [
            {"attribute": name, "operator": operator, "value": value}
            for name, operator, value in (
                ("quota", chosen.choice(("EQUALS", "NOT-EQUALS", "LESS-THAN")), chosen.choice((0, 1, "x"))),
                ("path_name", "EQUALS", f"host\\{chosen.choice('ABC')}"),
                ("label", chosen.choice(("EQUALS", "NOT-EQUALS")), chosen.choice("xyz")),
                ("identifier", "EQUALS", chosen.choice(keys)),
            )
            if chosen.random() < 0.5
        ]
        chosen.shuffle(wanted)
        try:
            found = next((each for each in store.all("queue") if satisfies(each, wanted)), None)
        except TypeError:
            expected: dict[str, Any] = {"result": "GenericError"}
        else:
            expected = {"result": "ObjectNotFound"} if found is None else {"result": "Success", "object": found}
        assert store.answer("read", {"class": "queue", "filter": wanted}) == expected
