"""Each vector of fixtures/vectors gets exactly the verdicts its expect.toml says."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conformance.judge.packets.judge import judge_packet
from conformance.verdict import Outcome
from conformance.wire import dissect

VECTORS = sorted((Path(__file__).parents[2] / "fixtures" / "vectors").glob("*.json"))


def expected_of(vector: Path) -> dict[str, Any]:
    return tomllib.loads(vector.with_name(f"{vector.stem}.expect.toml").read_text(encoding="utf-8"))


def bytes_of(vector: Path) -> bytes:
    return bytes.fromhex(json.loads(vector.read_text(encoding="utf-8"))["hex"])


def test_every_vector_has_its_expectation_and_the_other_way_round() -> None:
    assert len(VECTORS) >= 13
    folder = VECTORS[0].parent
    assert {path.name for path in folder.glob("*.toml")} == {f"{path.stem}.expect.toml" for path in VECTORS}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda path: path.stem)
def test_verdicts_are_the_expected_ones(vector: Path) -> None:
    expected, data = expected_of(vector), bytes_of(vector)
    transport = expected["transport"]
    verdicts = judge_packet(data, profile="msmq-4.0", readings="windows", transport=transport)
    others = [(one.requirement, one.outcome.value) for one in verdicts if one.outcome is not Outcome.PASS]
    passes = Counter(one.requirement for one in verdicts if one.outcome is Outcome.PASS)
    assert sorted(others) == sorted((one["requirement"], one["outcome"]) for one in expected.get("verdict", []))
    assert dict(passes) == expected.get("passes", {})
    assert dissect(data, transport=transport).kind == expected["kind"]
    assert all(one["why"] for one in expected.get("verdict", []))
