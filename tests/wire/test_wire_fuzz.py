"""Bytes nobody meant, to every reader of packets, structures and captures: an answer, or our own error, nothing else.

`fuzz_wire.py` does the same with atheris, where it is installed; what it finds is kept in `fixtures/fuzz`.
"""

from __future__ import annotations

import pytest
from fuzzing import TARGETS, corpus, told
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from nightly import fewer

QUICK = settings(
    database=None,
    deadline=None,
    max_examples=fewer(100),
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
LARGEST = 6000  # longer inputs are in the corpus; what is mixed of them stays short
BYTES = st.sampled_from((0, 1, 2, 3, 4, 7, 8, 16, 0x7F, 0x80, 0xFE, 0xFF))
NUMBERS = st.sampled_from((0, 1, 2, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF))


def once(target: str, data: bytes) -> None:
    try:
        TARGETS[target](data)
    except Exception as defect:
        raise AssertionError(f"{target} {told(data)}") from defect


@pytest.mark.parametrize("target", TARGETS)
def test_the_corpus(target: str) -> None:
    kept = corpus(target)
    assert kept, f"no inputs in fixtures/fuzz/{target}"
    for data in kept.values():
        once(target, data)


def test_the_corpus_is_of_the_targets() -> None:
    from fuzzing import CORPUS

    assert {path.name for path in CORPUS.iterdir()} == set(TARGETS)


@st.composite
def mixtures(draw: st.DrawFn, kept: list[bytes]) -> bytes:
    """Two inputs of the corpus joined somewhere, then some bytes and numbers of it overwritten, maybe cut."""
    one, other = draw(st.sampled_from(kept))[:LARGEST], draw(st.sampled_from(kept))[:LARGEST]
    data = bytearray(one)
    if draw(st.booleans()):
        data = bytearray(one[: draw(st.integers(0, len(one)))] + other[draw(st.integers(0, len(other))) :])
    for _ in range(draw(st.integers(0, 4)) if data else 0):
        at = draw(st.integers(0, len(data) - 1))
        if draw(st.booleans()):
            data[at] = draw(BYTES)
        else:
            data[at : at + 4] = draw(NUMBERS).to_bytes(4, "little")
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


@pytest.mark.parametrize("target", TARGETS)
def test_mixtures_of_the_corpus(target: str) -> None:
    kept = sorted(corpus(target).values())

    @QUICK
    @given(mixtures(kept))
    def run(data: bytes) -> None:
        once(target, data)

    run()


@pytest.mark.parametrize("target", TARGETS)
def test_bytes_of_no_kind(target: str) -> None:
    @QUICK
    @given(st.binary(max_size=300))
    def run(data: bytes) -> None:
        once(target, data)

    run()
