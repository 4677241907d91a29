"""Findings about the text and the pages made of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.spec.catalogue import (
    Catalogue,
    CatalogueError,
    SpecFinding,
    catalogue,
    finding,
    findings,
    reading_of_finding,
    unexpected,
)
from conformance.spec.entries import suspicions
from tools import findings_page
from tools.findings_page import PAGE, page, stale


def test_there_are_256_suspicions() -> None:
    assert len(set(suspicions())) == 155 + 101
    assert {suspicions()[0], suspicions()[-1]} == {"D01", "Q101"}


def test_every_suspicion_is_disposed_of() -> None:
    # That none stands twice is checked where the register is read.
    assert set(suspicions()) <= set(findings())
    assert unexpected() == ()


def test_what_is_left_out_or_made_up_is_noticed() -> None:
    names = {*suspicions(), "N-word"}
    assert unexpected(names) == ()
    assert unexpected([*names, "D156"]) == ("D156",)


def test_every_finding_ends_in_a_reading_or_without_one() -> None:
    for one in findings().values():
        without = reading_of_finding(one) is None  # also: none is merged in a circle
        assert without or one.disposition in ("reading", "merged"), one.id


def test_merging_is_followed_and_a_circle_refused() -> None:
    name = next(iter(catalogue().readings))
    known = {
        "D01": SpecFinding("D01", "a", ("MQMQ-1",), "merged", "w", into="D02"),
        "D02": SpecFinding("D02", "b", ("MQMQ-1",), "reading", "w", reading=name),
        "D03": SpecFinding("D03", "c", ("MQMQ-1",), "merged", "w", into="D04"),
        "D04": SpecFinding("D04", "d", ("MQMQ-1",), "merged", "w", into="D03"),
        "D05": SpecFinding("D05", "e", ("MQMQ-1",), "merged", "w", into=name),
        "D06": SpecFinding("D06", "f", ("MQMQ-1",), "editorial", "w"),
    }
    wanted = catalogue().readings[name]
    assert [reading_of_finding(known[id_], known) for id_ in ("D01", "D02", "D05", "D06")] == [
        wanted,
        wanted,
        wanted,
        None,
    ]
    with pytest.raises(CatalogueError, match="circle"):
        reading_of_finding(known["D03"], known)


def test_an_unknown_finding_names_the_nearest() -> None:
    with pytest.raises(CatalogueError, match="no finding D999"):
        finding("D999")


def test_the_page_is_up_to_date() -> None:
    assert not stale(), "run python -m tools.findings_page"


def test_every_finding_and_reading_is_on_it() -> None:
    text = page(catalogue())
    known = catalogue()
    for name in known.findings:
        assert text.count(f"#### {name}: ") == 1, name
    for name in known.readings:
        assert f"`{name}`" in text, name
    assert f"{len(known.findings)} entries: " in text


def test_a_changed_register_makes_it_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "page.md"
    copy.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    assert stale(copy) == stale()
    known = catalogue()
    name, reading = next(iter(known.readings.items()))
    changed = replace(reading, evidence=reading.evidence + " More.")
    other = Catalogue(known.requirements, {**known.readings, name: changed}, known.findings)
    monkeypatch.setattr(findings_page, "catalogue", lambda: other)
    copy.write_text(page(known), encoding="utf-8")
    assert stale(copy)
    copy.write_text(page(other), encoding="utf-8")
    assert not stale(copy)
    assert stale(tmp_path / "none.md")


def test_what_stands_in_it_is_text_and_no_markup() -> None:
    name = next(iter(catalogue().readings))
    known = Catalogue(
        {},
        dict(catalogue().readings),
        {
            "D02": SpecFinding(
                "D02", "a <b> of c_d", ("MQMQ-2.1.10", "MQMQ-2.1"), "reading", "note <73>", reading=name
            ),
            "D01": SpecFinding("D01", "again", ("MQMQ-2.1.9",), "reading", "why", reading=name),
            "D03": SpecFinding("D03", "merged", ("MQMQ-2.1.9",), "merged", "why", into="D02"),
        },
    )
    text = page(known)
    assert "a \\<b> of c\\_d" in text
    assert "note \\<73>" in text
    assert "Also in MS-MQMQ 2.1." in text
    # In the order of the document, a reading in full once, and a merged entry with where the answer is.
    assert text.index("D01: ") < text.index("D03: ") < text.index("D02: ")
    assert f"**Reading** `{name}`: see D01." in text
    assert f"*Merged* into `D02`, read as `{name}`." in text
