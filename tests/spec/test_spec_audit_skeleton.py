"""Skeleton entries: they load as catalogue entries, bind every item and copy no sentence."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.spec.catalogue import Requirement
from conformance.spec.entries import requirement_of
from tools.audit import Item, audit, extract, read_document
from tools.skeleton import entries, main

SAMPLES = Path(__file__).parent / "audit_documents"
FILES = {"MQMQ": "mqmq.md", "MQDMPR": "mqdmpr.md", "MQAC": "mqac.md", "MQMP": "mqmp.txt"}


def loaded(name: str) -> list[Requirement]:
    document = read_document(SAMPLES / FILES[name])
    content = tomllib.loads("\n".join(entries(extract(document), document.titles)))
    return [requirement_of(raw, name) for raw in content["requirement"]]


def items_of(name: str) -> tuple[Item, ...]:
    return extract(read_document(SAMPLES / FILES[name]))


@pytest.mark.parametrize("name", FILES)
def test_skeletons_load_are_unique_and_leave_nothing_out(name: str) -> None:
    made = loaded(name)
    assert len({entry.id for entry in made}) == len(made)
    report = audit([SAMPLES / FILES[name]], made)
    assert report.clean
    assert not report.unclassed and not report.unbound


@pytest.mark.parametrize("name", FILES)
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
    document = read_document(SAMPLES / FILES["MQMQ"])
    items = [replace(item, section="2.3.2.9") for item in items_of("MQMQ") if item.kind == "field"]
    made = tomllib.loads("\n".join(entries(items, document.titles)))["requirement"]
    assert {(raw["checked"], raw.get("needs")) for raw in made} == {("environment", "directory")}


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
