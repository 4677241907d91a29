"""The real documents: how much is found in them, and that it holds together."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.spec.catalogue import Requirement, catalogue
from conformance.spec.constants import hresults, property_ids
from tools.audit import AuditError, Item, audit, extract, read_document
from tools.audit.text import keywords
from tools.skeleton import entries

FILES = {
    "MQMQ": "MS-MQMQ.md",
    "MQDMPR": "MS-MQDMPR.md",
    "MQAC": "MC-MQAC.md",
    "MQMP": "MS-MQMP-2.2.3.2.txt",
}

KINDS = {
    "MQMQ": {
        "sentence": 385,  # 384 with a keyword, and one that writes its must in small letters
        "field": 205,
        "property": 186,
        "constant": 145,
        "grammar-rule": 74,
        "product-note": 44,
        "table-row": 201,
        "member": 116,
        "enumeration": 11,
        "declaration": 42,
        "struct-member": 49,
    },
    "MQDMPR": {
        "sentence": 367,
        "step": 832,  # with the bindings 1,064
        "binding": 232,
        "argument": 116,
        "return-value": 54,
        "status-code": 55,  # 43 of them error codes
        "attribute": 244,
        "attribute-value": 292,
        "table-row": 269,
        "grammar-rule": 7,
        "product-note": 31,
    },
    "MQAC": {
        "class": 16,
        "method": 250,
        "interface": 48,
        "enumeration": 53,  # 21 of section 2.2.2 and 32 of the full declaration
        "member": 113,
        "constant": 58,
        "product-note": 156,
        "grammar-rule": 33,
        "precondition": 258,
        "hresult": 384,
        "step": 1603,
        "binding": 196,
        "sentence": 1064,
        "table-row": 767,
        "attribute": 27,
        "declaration": 19,
    },
    "MQMP": {"sentence": 47, "table-row": 63, "struct-member": 77, "declaration": 1},
}


TOLD = ("sentence", "step", "precondition", "hresult", "binding", "attribute")


@pytest.fixture(scope="module")
def items(documents: Path) -> Mapping[str, tuple[Item, ...]]:
    """The items of each document."""
    return {name: extract(read_document(documents / file)) for name, file in FILES.items()}


@pytest.mark.parametrize("name", FILES)
def test_as_much_is_found_as_was_counted(name: str, items: Mapping[str, tuple[Item, ...]]) -> None:
    assert Counter(item.kind for item in items[name]) == KINDS[name]


def test_keyword_atoms(items: Mapping[str, tuple[Item, ...]]) -> None:
    atoms = {
        name: sum(len(item.demands) for item in items[name] if item.kind == "sentence") for name in ("MQMQ", "MQDMPR")
    }
    assert atoms == {"MQMQ": 435 + 1, "MQDMPR": 367}


def test_steps_of_some_events(items: Mapping[str, tuple[Item, ...]]) -> None:
    steps = Counter(item.section for item in items["MQDMPR"] if item.kind in ("step", "binding"))
    assert sum(steps.values()) == 1064
    some = ("3.1.3", "3.1.7.1.5", "3.1.7.1.10", "3.1.7.1.15", "3.1.7.1.16", "3.1.7.3.3", "3.2.7.4")
    assert [steps[section] for section in some] == [90, 123, 69, 58, 14, 51, 27]


def test_every_keyword_outside_the_glossary_is_in_an_item(
    documents: Path, items: Mapping[str, tuple[Item, ...]]
) -> None:
    """Counted again by a plain search, line by line."""
    for name in ("MQMQ", "MQDMPR", "MQMP"):
        lines = (documents / FILES[name]).read_text(encoding="utf-8").splitlines()
        glossary = [line for line in lines if line.startswith("**MAY, SHOULD, MUST")]
        assert len(glossary) == (0 if name == "MQMP" else 1)
        with_keyword = {
            number
            for number, line in enumerate(lines, start=1)
            if re.search(r"\b(?:MUST|SHOULD|MAY)\b", line) and line not in glossary
        }
        found = {item.line for item in items[name] if item.kind == "sentence"}
        assert with_keyword - found == set()
    assert len({item.line for item in items["MQMP"] if item.kind == "sentence"}) == 39


def test_every_keyword_of_a_document_of_pages_is_in_an_item(
    documents: Path, items: Mapping[str, tuple[Item, ...]]
) -> None:
    """Lines are joined over pages there, so occurrences are counted; glossary, appendices and index are outside."""
    blocks = read_document(documents / FILES["MQAC"]).blocks
    written = sum(
        len(keywords(block.text))
        for block in blocks
        if block.shape not in ("heading", "fence") and not re.match(r"1\.1$|[6-9]$", block.section)
    )
    assert written == sum(len(keywords(item.text)) for item in items["MQAC"] if item.kind in TOLD)
    assert written > 1300


def test_every_method_has_an_opnum_of_its_interface(items: Mapping[str, tuple[Item, ...]]) -> None:
    methods = [dict(item.detail) for item in items["MQAC"] if item.kind == "method"]
    assert len({(method["interface"], method["opnum"]) for method in methods}) == 250
    interfaces = [dict(item.detail) for item in items["MQAC"] if item.kind == "interface"]
    assert sum(int(interface["methods"]) for interface in interfaces) == 660
    assert len({interface["uuid"] for interface in interfaces}) == 48


def test_codes_and_properties_are_those_the_code_imports(items: Mapping[str, tuple[Item, ...]]) -> None:
    codes = {item.identifier: int(dict(item.detail)["value"], 16) for item in items["MQMQ"] if item.kind == "constant"}
    for name, value in codes.items():
        assert getattr(hresults, str(name)) == value
    for item in items["MQMQ"]:
        if item.kind == "property" and item.section.startswith("2.3.1."):
            assert getattr(property_ids, str(item.identifier)) == int(dict(item.detail)["value"])


@pytest.mark.parametrize("name", FILES)
def test_skeletons_leave_nothing_out_and_copy_no_sentence(
    name: str, documents: Path, items: Mapping[str, tuple[Item, ...]]
) -> None:
    document = read_document(documents / FILES[name])
    made = tomllib.loads("\n".join(entries(items[name], document.titles)))["requirement"]
    assert len({entry["id"] for entry in made}) == len(made)
    texts = {item.text for item in items[name] if item.kind in ("sentence", "step") and item.text.count(" ") > 4}
    for entry in made:
        assert entry["says"] not in texts
    bound = [
        Requirement(
            **{key: entry[key] for key in ("id", "level", "role", "checked", "says", "kind")},
            document=name,
            section=entry["id"].split("-")[1].rpartition(".")[0],
            source=tuple(entry["source"]),
        )
        for entry in made
    ]
    assert audit([documents / FILES[name]], bound).clean


@pytest.mark.parametrize("file", ["MS-MQMQ.md", "MS-MQDMPR.md", "MC-MQAC.md", "MS-MQMP-2.2.3.2.txt"])
def test_a_document_that_ends_in_the_middle(file: str, documents: Path, tmp_path: Path) -> None:
    half = tmp_path / file
    text = (documents / file).read_text(encoding="utf-8")
    half.write_text(text[: len(text) // 2], encoding="utf-8")
    with pytest.raises(AuditError, match="ends in the middle"):
        read_document(half)


def test_a_sibling_document_is_not_audited(documents: Path) -> None:
    with pytest.raises(AuditError, match="holds MS-MQMP, which is not audited"):
        read_document(documents / "siblings" / "MS-MQMP.md")


def test_what_the_catalogue_has_of_a_sibling_document_is_in_it(documents: Path) -> None:
    items = {item.source: item for item in extract(read_document(documents / "siblings" / "MS-MQQB.md"))}
    entries_ = [entry for entry in catalogue() if entry.document == "MS-MQQB"]
    assert sum(bool(entry.source) for entry in entries_) > 190
    assert not [entry.id for entry in entries_ if any(source not in items for source in entry.source)]
    # What two sections say in turn may be one demand, but nothing is bound to another section by mistake.
    # An entry may sum up the parts of its section.
    elsewhere = {
        entry.id
        for entry in entries_
        for source in entry.source
        if not f"{items[source].section}.".startswith(f"{entry.section}.")
    }
    assert elsewhere == {"MQQB-2.2.7.qm-guid"}


@pytest.mark.parametrize("name", ["MQRR", "MQQP", "MQMR"])
def test_nothing_of_a_protocol_of_calls_is_left_out(name: str, documents: Path) -> None:
    report = audit([documents / "siblings" / f"MS-{name}.md"])
    assert report.clean
    assert (report.unbound, report.unclassed, report.unwritten) == ((), (), ())
