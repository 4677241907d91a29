"""Every client has each member of the one Protocol that histories and suites use, and takes the same arguments."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

import conformance
from conformance.adapter.client import PendingCall
from conformance.adapter.connectors import connect
from conformance.harness.guarded_client import GuardedCall, GuardedClient
from conformance.harness.playback import Outstanding as PlayedCall
from conformance.harness.playback import Playback
from conformance.harness.port import OpenCall, Port
from conformance.histories.soak import Direct
from conformance.histories.soak import Outstanding as UncheckedCall

MEMBERS = {name: member for name, member in vars(Port).items() if not name.startswith("_")}
METHODS = sorted(name for name, member in MEMBERS.items() if inspect.isfunction(member))
CALLS = {PendingCall: "client", GuardedCall: "guarded", PlayedCall: "played", UncheckedCall: "unchecked"}


@pytest.fixture
def clients(tmp_path: Path) -> Any:
    with connect("embedded", state_dir=tmp_path, in_process=True) as client:
        yield [client, GuardedClient(client), Playback(client.hello, [], []), Direct(client)]


def test_every_client_has_every_member(clients: list[Any]) -> None:
    assert {"hello", "keeps_state", "time", "unique", "call", "start", "restart"} <= MEMBERS.keys()
    for client in clients:
        assert [name for name in MEMBERS if not hasattr(client, name)] == [], type(client).__name__
        assert isinstance(client.keeps_state, bool) and client.hello.name
        assert client.time.monotonic() <= client.time.monotonic()
        client.time.sleep(0)


@pytest.mark.parametrize("name", METHODS)
def test_every_client_takes_the_same_arguments(name: str, clients: list[Any]) -> None:
    wanted = list(inspect.signature(MEMBERS[name]).parameters.values())[1:]
    for client in clients:
        given = list(inspect.signature(getattr(client, name)).parameters.values())
        assert [one.name for one in given] == [one.name for one in wanted], type(client).__name__
        assert [one.default for one in given] == [one.default for one in wanted], type(client).__name__


@pytest.mark.parametrize("made", CALLS, ids=CALLS.values())
def test_every_open_call_has_every_member(made: type) -> None:
    wanted = {name for name in vars(OpenCall) if not name.startswith("_")}
    known = set(dir(made)) | {node.attr for node in ast.walk(ast.parse(inspect.getsource(made))) if _is_own(node)}
    assert wanted == {"id", "method", "done", "blocked", "result"} and wanted <= known


def test_a_word_that_no_example_has_used_is_another_each_time(clients: list[Any]) -> None:
    for client in (clients[0], clients[1], clients[3]):
        assert client.unique() != client.unique()


def test_nobody_asks_a_client_whether_it_has_a_member() -> None:
    """`getattr` with a default and `hasattr` on a client: the Protocol says what every client has."""
    root = Path(conformance.__file__).parent
    asking = [
        f"{path.relative_to(root)}:{node.lineno}"
        for room in ("harness", "histories", "suites")
        for path in sorted((root / room).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr")
        if ast.unparse(node.args[0]).split(".")[-1].lstrip("_") in ("client", "mq", "driver", "guarded", "playback")
    ]
    assert asking == []


def _is_own(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
