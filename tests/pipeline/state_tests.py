"""The state of a stream that a lake keeps: the same when it is read again, and nothing but values."""

from __future__ import annotations

import json
import os
import pickle
import zlib
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Flag
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from lake_helpers import CAPTURES, put, records_of, replayed, rows, said, write_pcap

from conformance.pipeline import memory
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.memory import kept, resumed
from conformance.pipeline.values import ValueFormError, nodes_of, value_of
from conformance.verdict import Outcome

HERE = (__name__, "conformance.verdict")


@dataclass(slots=True)
class Node:
    name: str
    others: list[Any] = field(default_factory=list)
    unset: int = field(init=False)


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: frozenset[int] = frozenset()


class Pair(NamedTuple):
    a: Any
    b: Any


class Bits(Flag):
    A = 1
    B = 2


class Text(str):
    __slots__ = ()


class Open:
    """With attributes as they come; its constructor must not run."""

    def __init__(self) -> None:
        raise AssertionError


def again(value: Any) -> Any:
    return value_of(json.loads(json.dumps(nodes_of(value, HERE))), HERE)


def test_values_come_back_as_they_were():
    values = [
        None, True, 1, -(1 << 70), 0.5, "text\ud800\0", b"\0\xff", bytearray(b"x"), (1, (2,)), [1, [2]], {1, 2},
        frozenset({(1, 2)}), {"a": 1, (2, 3): [4]}, OrderedDict([("b", 1), ("a", 2)]), Counter("aab"),
        deque([1, 2], maxlen=3), datetime(2026, 3, 1, 1, 2, 3, 4, tzinfo=UTC), timedelta(-1, 2, 3), Outcome.FAIL,
        Bits.A, Bits.A | Bits.B, float("-inf"),
        Point(1, frozenset({2})), {Point(1): Pair(1, [2])}, Node("n", [Point(3)]),
    ]  # fmt: skip
    for value in values:
        found = again(value)
        assert isinstance(value, Node) or found == value
        assert type(found) is type(value)
    assert (
        list(again(next(one for one in values if isinstance(one, OrderedDict)))) == ["b", "a"]
        and again(next(one for one in values if isinstance(one, deque))).maxlen == 3
    )
    assert again(values[-1]).others == [Point(3)] and not hasattr(again(values[-1]), "unset")


def test_what_is_shared_and_what_is_part_of_itself_stays_so():
    one, shared = Node("one"), [1]
    one.others = [one, shared, {"same": shared}, (shared,)]
    found = again(one)
    itself, list_, in_dict, in_tuple = found.others
    assert itself is found and list_ is in_dict["same"] is in_tuple[0]
    loose = object.__new__(Open)
    loose.anything = loose
    assert again(loose).anything.__class__ is Open
    deep: list[Any] = []
    inner = deep
    for _ in range(50_000):
        inner.append([])
        inner = inner[0]
    assert isinstance(again(deep)[0][0], list)


@pytest.mark.parametrize("value", [os.system, Node, Exception("x"), Path("x"), lambda: 1, 1j, object(), Text("x")])
def test_anything_else_has_no_form(value):
    with pytest.raises(ValueFormError, match="has no form"):
        nodes_of([value], HERE)


WRONG: dict[str, Any] = {
    "nothing": [],
    "an object": {"a": 1},
    "no nodes": [1, 2],
    "an empty node": [[]],
    "an unknown kind": [["eval", "1"]],
    "a kind of a number": [[1]],
    "a function": [["posix:system", "x"]],
    "a class elsewhere": [["pathlib:Path"]],
    "a class of another module": [[f"{__name__}:Path"]],
    "a function of a known module": [[f"{__name__}:again"]],
    "no class": [[f"{__name__}:nothing"]],
    "a dotted name": [[f"{__name__}:Node.name"]],
    "a module that is none": [[f"{__name__}.nothing:X"]],
    "an attribute that is none": [[f"{__name__}:Node", "other", 1]],
    "half an attribute": [[f"{__name__}:Node", "name"]],
    "a class for a class": [[f"{__name__}:Open", "__class__", [1]], [f"{__name__}:Node"]],
    "a number for a name": [[f"{__name__}:Open", 1, 1]],
    "too many members": [[f"{__name__}:Pair", 1, 2, 3]],
    "an outcome that is none": [["conformance.verdict:Outcome", "NOTHING", "nothing"]],
    "a node that is none": [["list", [1]]],
    "a node below": [["list", [-1]]],
    "two nodes for one": [["list", [0, 0]]],
    "a list for a key": [["dict", [1], 1], ["list"]],
    "half a pair": [["dict", 1]],
    "a tuple in itself": [["tuple", [0]]],
    "deep tuples": [["tuple", [at + 1]] for at in range(100_000)] + [["tuple"]],
    "no base64": [["bytes", "?"]],
    "no time": [["time", "yesterday"]],
    "a huge span": [["span", 10**12, 0, 0]],
}


@pytest.mark.parametrize("name", WRONG)
def test_what_was_not_written_here_is_refused(name):
    with pytest.raises(ValueFormError):
        value_of(WRONG[name], HERE)


@pytest.fixture
def split(tmp_path) -> tuple[Path, Path]:
    records = records_of(CAPTURES / "consistent-session.pcapng")
    return write_pcap(tmp_path / "set_1.pcap", records[:17]), write_pcap(tmp_path / "set_2.pcap", records[17:])


@pytest.mark.parametrize("sessions", [True, False])
def test_state_that_was_tampered_with_is_one_sentence(split, tmp_path, sessions):
    lake, _ = put(tmp_path / "lake", split[:1], sessions=sessions)
    (state,) = (lake.root / "_state").iterdir()
    right = state.read_bytes()
    mark = right[: right.index(b"\n") + 1]
    planted = zlib.compress(pickle.dumps(os.system))
    bomb = zlib.compress(bytes(1 << 24))
    for data in (
        mark,
        mark + planted,
        mark + bomb,
        mark + zlib.compress(b'[["list",NaN]]'),
        right[:-9],
        right + b"x" * 9,
    ):
        state.write_bytes(data)
        if data == right + b"x" * 9:
            continue
        with pytest.raises(PipelineError, match="kept state of a stream is damaged") as problem:
            put(tmp_path / "lake", split[1:], sessions=sessions)
        assert "\n" not in problem.value.sentence
    state.write_bytes(right)
    put(tmp_path / "lake", split[1:], sessions=sessions)
    assert {row["position"] for row in rows(lake, "captures")} == {1, 2}


def test_a_bomb_does_not_go_off(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "MAX_STATE", 1 << 16)
    path = tmp_path / "s.state"
    path.write_bytes(kept([]).split(b"\n")[0] + b"\n" + zlib.compress(bytes(1 << 24)))
    with pytest.raises(PipelineError, match="is cut, or has too much in it"):
        resumed(path)


def test_state_that_is_too_much_is_not_kept_and_the_stream_begins_anew(split, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(memory, "MAX_STATE", 100)
        put(tmp_path / "lake", split[:1])
    lake, _ = put(tmp_path / "lake", split[1:])
    assert len({row["stream_id"] for row in rows(lake, "captures")}) == 2
    assert said(lake, split[1]) == replayed(split[1])
