"""Reports and skeletons of the audit."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.spec.catalogue import Requirement, catalogue
from conformance.spec.entries import requirement_of
from tools.audit import AuditError, AuditReport, Item, audit, extract, read_document
from tools.audit.audit import compare
from tools.audit.document import parse_document
from tools.skeleton import entries, main

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


SKELETON_FILES = {"MQMQ": "mqmq.md", "MQDMPR": "mqdmpr.md", "MQAC": "mqac.md", "MQMP": "mqmp.txt"}


def loaded(name: str) -> list[Requirement]:
    document = read_document(SAMPLES / SKELETON_FILES[name])
    content = tomllib.loads("\n".join(entries(extract(document), document.titles)))
    return [requirement_of(raw, name) for raw in content["requirement"]]


def items_of(name: str) -> tuple[Item, ...]:
    return extract(read_document(SAMPLES / SKELETON_FILES[name]))


@pytest.mark.parametrize("name", SKELETON_FILES)
def test_skeletons_load_are_unique_and_leave_nothing_out(name: str) -> None:
    made = loaded(name)
    assert len({entry.id for entry in made}) == len(made)
    report = audit([SAMPLES / SKELETON_FILES[name]], made)
    assert report.clean
    assert not report.unclassed and not report.unbound


@pytest.mark.parametrize("name", SKELETON_FILES)
def test_no_sentence_of_a_document_is_copied(name: str) -> None:
    texts = [item.text for item in items_of(name) if item.kind in ("sentence", "step", "product-note")]
    for entry in loaded(name):
        assert not [text for text in texts if text in entry.says], entry.id
        assert entry.generated == bool(entry.says)


def says(name: str, word: str) -> str:
    return next(entry.says for entry in loaded(name) if entry.id.endswith("." + word))


def test_what_is_said_is_made_of_names_and_numbers() -> None:
    assert says("MQMQ", "propid-q-taste") == (
        "PROPID_Q_TASTE is property 1403 with variant type VT_VARIANT | VT_VECTOR."
    )
    assert says("MQMQ", "mq-error-sour") == "MQ_ERROR_SOUR is 0xC00E0001."
    assert says("MQMQ", "flags-pr-field").startswith("Flags.PR is bits 0 to 2 of its field")
    assert says("MQAC", "get-taste-method") == "Taste of ICook is a getter with opnum 8."
    assert (
        says("MQAC", "variable-hungry-false") == "Serve checks Hungry and answers MQ_ERROR_SOUR when the check fails."
    )
    assert says("MQDMPR", "door-size-row").endswith("Field Door.Size, Description Door.Width.")


def test_sentences_and_steps_are_left_to_people() -> None:
    assert says("MQDMPR", "paint-it") == ""
    assert says("MQMQ", "version-number-this-field-be") == ""


def test_how_it_can_be_checked_is_guessed_from_the_section() -> None:
    checked = {entry.id.partition("-")[2]: (entry.checked, entry.reason, entry.role) for entry in loaded("MQMQ")}
    assert checked["2.2.19.1.flags-in-sent-ignored-receipt-sender"] == ("packet", None, "sender")
    assert checked["2.2.19.1.flags-in-sent-ignored-receipt-receiver"] == ("call", None, "receiver")
    assert checked["2.1.1.path-rule"] == ("grammar", None, "any")
    assert checked["2.3.1.1.property-sweet"] == ("none", "permission", "any")
    assert checked["6.note-base-header-owner"] == ("none", "definition", "any")
    events = {entry.id.partition("-")[2]: (entry.checked, entry.reason) for entry in loaded("MQDMPR")}
    assert events["3.1.7.1.1.generated-arguments"] == ("none", "boilerplate")
    assert events["3.1.7.1.1.door"] == ("none", "binding")
    assert events["3.1.7.1.1.door-null-step"] == ("call", None)


def test_what_an_environment_needs_is_guessed_from_the_section() -> None:
    document = read_document(SAMPLES / SKELETON_FILES["MQMQ"])
    items = [replace(item, section="2.2.25") for item in items_of("MQMQ") if item.kind == "field"]
    made = tomllib.loads("\n".join(entries(items, document.titles)))["requirement"]
    assert {(raw["checked"], raw.get("needs")) for raw in made} == {("environment", "nobody")}


def test_a_repeated_declaration_points_at_the_first() -> None:
    repeated = next(entry for entry in loaded("MQAC") if entry.id == "MQAC-6.mqtaste-declaration")
    assert (repeated.checked, repeated.reason) == ("none", "duplicate-of MQAC-2.2.2.1.mqtaste-declaration")


def test_the_command_prints_a_selection(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["MQMQ", str(SAMPLES / "mqmq.md"), "--section", "2.2.19", "--kind", "field"]) == 0
    printed = tomllib.loads(capsys.readouterr().out)["requirement"]
    assert {entry["kind"] for entry in printed} == {"field"}
    assert len(printed) == 7
    assert main(["MQMQ", str(SAMPLES / "mqmq.md"), "--section", "2.4", "--list"]) == 0
    assert "MQMQ-2.4.mq-error-sour" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["MQMQ", str(SAMPLES / "mqac.md")], "is MQAC, not MQMQ"),
        (["MQMQ", str(SAMPLES / "absent.md")], "cannot be read"),
        (["MQMQ", str(SAMPLES / "mqmq.md"), "--section", "2.2.1"], "no item is left"),
    ],
)
def test_a_mistake_gets_one_sentence(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
