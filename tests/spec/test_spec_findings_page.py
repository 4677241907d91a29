"""docs/spec-findings.md is what the register says, and says all of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.spec.catalogue import Catalogue, SpecFinding, catalogue
from tools import findings_page
from tools.findings_page import PAGE, page, stale


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
