"""The audit itself: what it must notice, shown on small documents in the format of the real ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.spec.catalogue import Requirement, catalogue
from tools.audit import AuditError, AuditReport, Item, audit, extract, read_document
from tools.audit.audit import compare
from tools.audit.document import parse_document

SAMPLES = Path(__file__).parent / "audit_documents"
FILES = ("mqmq.md", "mqdmpr.md", "mqac.md", "mqmp.txt")


def entry(item: Item, **changes: object) -> Requirement:
    made = Requirement(
        id=item.id,
        document=item.document,
        section=item.section,
        level="must",
        role="any",
        checked="call",
        says="It is so.",
        kind=item.kind,
        source=(item.source,),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


ITEMS = {document.name: extract(document) for document in (read_document(SAMPLES / file) for file in FILES)}
ALL = [item for items in ITEMS.values() for item in items]


def report(entries: list[Requirement], items: dict[str, tuple[Item, ...]] | None = None) -> AuditReport:
    return compare(ITEMS if items is None else items, entries, {})


def test_a_whole_catalogue_is_clean() -> None:
    found = report([entry(item) for item in ALL])
    assert found.clean
    assert (found.unbound, found.unclassed, found.unwritten) == ((), (), ())
    assert [(total.items, total.claimed) for total in found.totals] == [
        (len(items), len(items)) for items in ITEMS.values()
    ]


@settings(max_examples=30)
@given(at=st.integers(0, len(ALL) - 1))
def test_a_removed_entry_is_noticed(at: int) -> None:
    found = report([entry(item) for item in ALL if item is not ALL[at]])
    assert [item.id for item in found.missing] == [ALL[at].id]
    assert not found.clean


@settings(max_examples=30)
@given(at=st.integers(0, len(ALL) - 1), of=st.integers(0, 15))
def test_a_source_that_no_document_has_is_noticed(at: int, of: int) -> None:
    digits = list(ALL[at].source)
    digits[of] = "0" if digits[of] != "0" else "1"
    wrong = "".join(digits)
    found = report([entry(item, source=(wrong,) if item is ALL[at] else (item.source,)) for item in ALL])
    assert [(change.requirement, change.source, change.item) for change in found.changed] == [
        (ALL[at].id, wrong, ALL[at])
    ]
    twice = report([entry(item, source=(item.source, wrong) if item is ALL[at] else (item.source,)) for item in ALL])
    assert [(gone.requirement, gone.source) for gone in twice.gone] == [(ALL[at].id, wrong)]


SENTENCES = [item for item in ITEMS["MQMQ"] if item.kind == "sentence"]


@settings(max_examples=20)
@given(at=st.integers(0, len(SENTENCES) - 1), word=st.sampled_from(["seldom", "0x11", "zero"]))
def test_a_changed_sentence_is_noticed_and_paired_with_its_entry(at: int, word: str) -> None:
    chosen = SENTENCES[at]
    lines = (SAMPLES / "mqmq.md").read_text(encoding="utf-8").split("\n")
    line = lines[chosen.line - 1]
    end = chosen.text.split()[-1]
    lines[chosen.line - 1] = (f"{word} {end}").join(line.rsplit(end, 1))
    changed = extract(parse_document("\n".join(lines), "changed"))
    before, after = {item.source for item in ITEMS["MQMQ"]}, {item.source for item in changed}
    assert after != before
    found = report([entry(item) for item in ITEMS["MQMQ"]], {"MQMQ": changed})
    assert chosen.id in {change.requirement for change in found.changed}
    assert not found.missing and not found.gone


def test_both_halves_of_a_changed_sentence_follow_it() -> None:
    item = next(item for item in ALL if len(item.demands) == 2)
    halves = [entry(item, id=f"{item.id}-{demand.role}", source=("0" * 16,)) for demand in item.demands]
    found = report([*(entry(other) for other in ALL if other is not item), *halves])
    assert [(change.requirement, change.item.id) for change in found.changed] == [
        (f"{item.id}-sender", item.id),
        (f"{item.id}-receiver", item.id),
    ]
    assert not found.missing


def test_entries_of_other_documents_are_outside() -> None:
    step = entry(ALL[0], id="MQQB-3.1.7.word", document="MS-MQQB", source=("0" * 16,))
    found = audit([SAMPLES / "mqmq.md"], [step, *(entry(item) for item in ALL)])
    assert found.clean
    assert [total.document for total in found.totals] == ["MQMQ"]


def test_entries_that_are_bound_to_nothing_have_no_kind_or_say_nothing() -> None:
    item = ITEMS["MQMQ"][0]
    loose = entry(item, id=f"{item.id}-loose", source=(), kind=None)
    kindless = entry(item, id=f"{item.id}-kindless", kind=None)
    silent = entry(item, id=f"{item.id}-silent", says=" ")
    found = report([*(entry(item) for item in ALL), loose, kindless, silent])
    assert (found.unbound, found.unclassed, found.unwritten) == ((loose.id,), (kindless.id,), (silent.id,))


def test_the_report_as_json_has_no_text_of_a_document() -> None:
    out = json.dumps(audit([SAMPLES / file for file in FILES], []).to_json())
    assert json.loads(out)["clean"] is False
    for item in ALL:
        if item.kind in ("sentence", "step") and len(item.text) > 20:
            assert item.text not in out


def test_the_same_document_twice_or_none_at_all() -> None:
    with pytest.raises(AuditError, match="given twice"):
        audit([SAMPLES / "mqmq.md", SAMPLES / "mqmq.md"], [])
    with pytest.raises(AuditError, match="no document was given"):
        audit([], [])


def test_the_shipped_catalogue_is_what_is_compared_by_default() -> None:
    found = audit([SAMPLES / "mqmq.md"])
    assert found.totals[0].entries == sum(entry.id.startswith("MQMQ-") for entry in catalogue())
