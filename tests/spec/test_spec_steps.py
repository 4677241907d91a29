"""The steps files: well-formed, bound to requirements, and in step with the document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.spec.catalogue import Catalogue, CatalogueError, Requirement
from tools.audit import Item, extract, read_document
from tools.audit.steps import disagreements, events, read_events

SOURCES = [f"{number:016x}" for number in range(4)]
WORDS = ("fails", "ends", "sets", "answers")


def entry(word: str, source: str) -> Requirement:
    return Requirement(
        f"MQDMPR-3.1.7.1.10.{word}", "MS-MQDMPR", "3.1.7.1.10", "must", "queue-manager", "call", "A.", source=(source,)
    )


KNOWN = Catalogue({one.id: one for one in map(entry, WORDS, SOURCES)}, {}, {})
ITEMS = [
    Item("MQDMPR", "3.1.7.1.10", "step", at, "text", source, "must", None, word)
    for at, (word, source) in enumerate(zip(WORDS, SOURCES, strict=True))
]


def written(folder: Path, depths: Sequence[object], order: Sequence[int] = (0, 1, 2, 3), **more: str) -> Path:
    lines = [f'event = "{more.get("event", "Dequeue Message")}"', f'provenance = "{more.get("by", "by-meaning")}"']
    for at, depth in zip(order, depths, strict=False):
        word = more.get("word", WORDS[at])
        lines += ["[[step]]", f'id = "MQDMPR-3.1.7.1.10.{word}"', f'source = "{SOURCES[at]}"', f"depth = {depth}"]
    (folder / f"{more.get('name', '3.1.7.1.10')}.toml").write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_depth_makes_a_tree(tmp_path: Path) -> None:
    event = read_events(written(tmp_path, (0, 1, 2, 1)), KNOWN)["3.1.7.1.10"]
    assert list(event.parents().values()) == [None, SOURCES[0], SOURCES[1], SOURCES[0]]
    assert event.name == "Dequeue Message"


@pytest.mark.parametrize("depths", [(1,), (0, 2), (0, 1, 3), (0, -1), (0, '"1"'), (0, "true")])
def test_a_depth_that_jumps_is_refused(depths: tuple[object, ...], tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="depth"):
        read_events(written(tmp_path, depths), KNOWN)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"word": "end"}, r"did you mean MQDMPR-3\.1\.7\.1\.10\.ends"),
        ({"word": "ends"}, "is not bound to"),
        ({"by": "guess"}, "provenance 'guess'"),
        ({"name": "3.1.7.1.11"}, "another section"),
        ({"name": "dequeue"}, "not named after a section"),
    ],
)
def test_what_is_wrong_is_told(more: dict[str, str], told: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=told):
        read_events(written(tmp_path, (0,), **more), KNOWN)


def test_a_step_listed_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="listed twice"):
        read_events(written(tmp_path, (0, 1, 1), (0, 1, 1)), KNOWN)


@pytest.mark.parametrize(
    ("order", "items", "told"),
    [
        ((0, 1, 2, 3), ITEMS, None),
        ((0, 1, 2), ITEMS, "1 steps are not listed"),
        ((0, 1, 2, 3), ITEMS[:3], "1 steps are not in the document, the first MQDMPR-3.1.7.1.10.answers"),
        ((0, 2, 1, 3), ITEMS, "another order than in the document, from MQDMPR-3.1.7.1.10.sets on"),
        ((0, 1, 2, 3), [], "4 steps are not in the document"),
    ],
)
def test_the_document_is_followed(order: tuple[int, ...], items: list[Item], told: str | None, tmp_path: Path) -> None:
    found = list(disagreements(read_events(written(tmp_path, (0, 0, 0, 0), order), KNOWN), items))
    assert found == [] if told is None else (len(found) == 1 and told in found[0])


def test_an_event_without_a_file_is_noticed() -> None:
    assert list(disagreements({}, ITEMS)) == ["MQDMPR 3.1.7.1.10: the 4 steps of this event have no file"]


def test_the_shipped_steps_load() -> None:
    for section, event in events().items():
        assert event.section == section
        assert event.steps[0].depth == 0


def test_the_shipped_steps_are_those_of_the_document(documents: Path) -> None:
    assert list(disagreements(events(), extract(read_document(documents / "MS-MQDMPR.md")))) == []
