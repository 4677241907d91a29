"""Reading the documents: small ones in the same format, written for these tests, with every trap the real ones have."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tools.audit import AuditError, Item, extract, parse_document, read_document

SAMPLES = Path(__file__).parent / "audit_documents"
NAMES = {"mqmq.md": "MQMQ", "mqdmpr.md": "MQDMPR", "mqac.md": "MQAC", "mqmp.txt": "MQMP"}


def text_of(name: str) -> str:
    return (SAMPLES / name).read_text(encoding="utf-8")


def items_of(name: str, text: str | None = None) -> tuple[Item, ...]:
    return extract(parse_document(text if text is not None else text_of(name), name))


def of_kind(items: tuple[Item, ...], kind: str) -> list[str]:
    return [item.text for item in items if item.kind == kind]


@pytest.mark.parametrize(("file", "name"), NAMES.items())
def test_a_document_is_known_by_its_content(file: str, name: str, tmp_path: Path) -> None:
    copy = tmp_path / "renamed"
    copy.write_text(text_of(file), encoding="utf-8")
    assert read_document(copy).name == name


@pytest.mark.parametrize("file", NAMES)
def test_sources_and_ids_are_unique_and_ids_end_in_a_word(file: str) -> None:
    items = items_of(file)
    assert len({item.source for item in items}) == len(items) == len({item.id for item in items})
    for item in items:
        assert re.fullmatch(r"[0-9a-f]{16}", item.source)
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", item.word), item.id
        assert not item.word.isdigit(), item.id


def test_keywords_of_the_glossary_and_the_revision_history_demand_nothing() -> None:
    assert not [item for item in items_of("mqmq.md") if item.section.startswith(("1", "7"))]


def test_rules_are_found_in_paragraphs_glued_in_cells_and_in_notes() -> None:
    rules = [(item.identifier, item.text, item.context) for item in items_of("mqmq.md") if item.kind == "grammar-rule"]
    assert rules == [
        ("Path", 'Path = (Host "\\" Leaf / Host "\\private$\\" Leaf)', ""),
        ("Host", "Host = 1*9(VCHAR)", ""),
        ("VCHAR", "VCHAR = %x21-7E", ""),
        ("Leaf", "Leaf = 1*12(%x21-3A) ; no semicolon", "MSMQ 1.0"),
        ("Leaf", 'Leaf = 1*12(%x21) [";" Sub]', "MSMQ 4.0 to MSMQ 6.0"),
        ("Sub", "Sub=1*3(%x21)", "MSMQ 4.0 to MSMQ 6.0"),
        ("Spec", 'Spec = "//" Host [":" Port]', "HTTP"),
        ("Port", "Port = *(%x30-39)", "HTTP"),
        ("Taste", 'Taste = "sweet" | "sour"', ""),
    ]


def test_fields_are_joined_with_the_paragraphs_that_declare_them() -> None:
    details = [dict(item.detail) for item in items_of("mqmq.md") if item.kind == "field"]
    assert [(detail["name"], detail["size"], detail.get("bits")) for detail in details] == [
        ("VersionNumber", "1 byte", None),
        ("Flags", "2 bytes", None),
        ("Owner", "16 bytes", None),
        ("Spare", "2 bytes", None),
        ("Flags.PR", "3 bits", "0-2"),
        ("Flags.IN", "1 bit", "3-3"),
        ("Flags.SH", "1 bit", "4-4"),
    ]


def test_a_sentence_about_both_ends_asks_for_two_entries() -> None:
    halves = [item.demands for item in items_of("mqmq.md") if item.context == "Flags.IN" and item.kind == "sentence"]
    assert [[(demand.role, demand.level) for demand in half] for half in halves] == [
        [("sender", "should"), ("receiver", "must")]
    ]


def test_a_keyword_in_small_letters_a_spaced_note_mark_and_an_abbreviation() -> None:
    sentences = of_kind(items_of("mqmq.md"), "sentence")
    assert "When RC2 is meant, the vector must be set to zero." in sentences
    assert "This property MAY be sweet." in sentences
    assert "The server MUST not use it." in sentences
    assert not any(sentence.startswith("The one of the host") for sentence in sentences)


def test_declarations_whose_blanks_are_lost() -> None:
    names = [item.identifier for item in items_of("mqmq.md") if item.kind == "declaration"]
    assert names == ["BOX", "VARIANT_BOOL"]


def test_a_property_has_a_value_and_a_type_whatever_else_stands_there() -> None:
    item = next(item for item in items_of("mqmq.md") if item.kind == "property")
    assert (item.identifier, dict(item.detail)) == (
        "PROPID_Q_TASTE",
        {"value": "1403", "type": "VT_VARIANT | VT_VECTOR"},
    )


def test_notes_keep_what_follows_them_and_are_named_after_what_they_are_attached_to() -> None:
    notes = [item for item in items_of("mqmq.md") if item.kind == "product-note"]
    assert [note.word for note in notes] == ["note-base-header-owner", "note-propid-q-taste"]
    assert notes[1].text.endswith('"sweet" | "sour"')


def test_steps_bindings_arguments_and_codes_of_an_event() -> None:
    items = [item for item in items_of("mqdmpr.md") if item.section == "3.1.7.1.1"]
    kinds = Counter(item.kind for item in items)
    assert kinds == {"sentence": 3, "argument": 2, "return-value": 1, "status-code": 2, "step": 10, "binding": 4}
    assert "If the knock is answered:" in of_kind(tuple(items), "step"), "a step without its dash"
    assert "Prose in the middle of the steps." not in [item.text for item in items]
    assert "Set the high byte to 0x07-iDoor.Priority." in of_kind(tuple(items), "step"), "a minus that was lost"


def test_bullets_without_an_announcement_are_steps() -> None:
    assert of_kind(items_of("mqdmpr.md"), "step")[-1] == "Paint it."


def test_equal_steps_are_told_apart_by_what_stands_before_them() -> None:
    words = [item.word for item in items_of("mqdmpr.md") if item.text == "Take no further action."]
    assert words == [
        "take-no-further-action-after-door-null-step",
        "take-no-further-action-after-open-door-doorman-close-step",
    ]


def test_a_clean_copy_has_the_same_sources() -> None:
    damaged = text_of("mqdmpr.md")
    clean = damaged.replace("\u00c2\u00a0", " ").replace("\u00e2\u20ac\u201c", "\u2013")
    assert clean != damaged
    assert [item.source for item in items_of("mqdmpr.md", clean)] == [item.source for item in items_of("mqdmpr.md")]


def test_a_word_does_not_depend_on_what_comes_later() -> None:
    before = {item.source: item.word for item in items_of("mqdmpr.md")}
    longer = text_of("mqdmpr.md").replace("- Set *rStatus* to MQ_OK.", "- Set *rStatus* to MQ_OK.\n- Ring the bell.")
    after = {item.source: item.word for item in items_of("mqdmpr.md", longer)}
    assert before.items() <= after.items()


def test_what_pages_broke_is_joined() -> None:
    items = items_of("mqac.md")
    assert "The Serve method asks for a dish whose name MUST be known." in of_kind(items, "sentence")
    members = [(item.identifier, dict(item.detail)["value"]) for item in items if item.kind == "member"]
    assert members == [("MQ_TASTE_SWEET", "0"), ("MQ_TASTE_SOUR", "1"), ("MQ_TASTE_BITTER", "0x10")]
    signature = next(item.text for item in items if item.kind == "method")
    assert "HRESULT Serve( [in, optional] VARIANT* Dish, [out, retval] BSTR* pbstrName );" in signature
    rows = [item.text for item in items if item.kind == "table-row" and item.section == "3.2.4"]
    assert rows == ["Serve (Opnum 7) | X | X", "get Taste | X |  | (Opnum 8)"]


def test_a_condition_before_a_failing_return_is_a_precondition() -> None:
    items = [item for item in items_of("mqac.md") if item.section == "3.2.4.1.1"]
    found = {kind: of_kind(tuple(items), kind) for kind in ("precondition", "hresult", "binding")}
    assert found == {
        "precondition": [
            "If the Hungry instance variable is False:",
            "If rStatus is not MQ_OK, the server MUST return an error HRESULT.",
        ],
        "hresult": ["Return MQ_ERROR_SOUR (0xC00E0001), and take no further action.", "Return S_OK."],
        "binding": ["iDish = the Dish input parameter"],
    }
    assert [dict(item.detail).get("code") for item in items if item.kind == "precondition"] == ["MQ_ERROR_SOUR", None]


def test_interfaces_are_cut_out_of_broken_declarations() -> None:
    items = items_of("mqac.md")
    interface = next(item for item in items if item.kind == "interface")
    assert dict(interface.detail) == {
        "uuid": "eba96b1e-2168-11d3-898c-00e02c074f6b",
        "base": "IDispatch",
        "methods": "2",
    }
    assert dict(next(item for item in items if item.identifier == "Cook" and item.section == "6").detail)["uuid"] == (
        "d7d6e086-dccd-11d0-aa4b-0060970debae"
    )
    assert next(item for item in items if item.identifier == "Taste").word == "get-taste-method", "it returns a value"


def test_tables_with_one_cell_a_line() -> None:
    rows = [(item.context, item.text) for item in items_of("mqmp.txt") if item.kind == "table-row"]
    assert rows == [
        ("uKind", "KIND_COLD | 0x00000000"),
        ("uKind", "KIND_HOT | 0x00000001"),
        ("pFlag", "0x00"),
        ("pFlag", "0x01"),
        ("pFlag", "S | 0 - 1"),
    ]


@pytest.mark.parametrize(
    ("file", "damage", "says"),
    [
        ("mqmq.md", lambda text: text[: text.index("## 2.4")], "no section 7"),
        ("mqmq.md", lambda text: text.replace("### 2.1.1 Names", "Names"), "no section 2.1.1"),
        ("mqmq.md", lambda text: text[: text.index("| Date |")], "revision history is missing"),
        ("mqmq.md", lambda text: text.replace("| 26.0 |", "| 27.0 |"), "is revision 27.0"),
        ("mqmq.md", lambda text: text.replace("[MS-MQMQ]", "[MS-MQDS]"), "holds MS-MQDS, which is not audited"),
        ("mqdmpr.md", lambda text: text[: len(text) // 2], "no section 7"),
        ("mqac.md", lambda text: text[: text.index("## 9")], "no section 9"),
        ("mqac.md", lambda text: text.replace("#### 3.2.4.1.1 Serve (Opnum 7)", "Serve"), "no section 3.2.4.1.1"),
        ("mqmp.txt", lambda text: text[: text.index("pulVersion")], "pulVersion, is not described"),
        ("mqmp.txt", lambda text: "A recipe.\n", "is not one of the documents"),
        ("mqmp.txt", lambda text: "", "is not one of the documents"),
    ],
)
def test_a_wrong_or_cut_file_gets_one_sentence(file: str, damage, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(AuditError, match=re.escape(says)) as raised:
        parse_document(damage(text_of(file)), "given.md")
    assert "given.md" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="cannot be read"):
        read_document(tmp_path / "absent.md")
    binary = tmp_path / "binary.md"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(AuditError, match="not UTF-8"):
        read_document(binary)
