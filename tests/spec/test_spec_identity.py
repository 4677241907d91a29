"""The identity of MC-MQAC's objects against sources that are not the document: fixtures/objects/second-sources.toml."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.hresults import HRESULTS
from conformance.spec.constants.interfaces import COCLASSES, INTERFACES, METHODS

ROOT = Path(__file__).parents[2]
KNOWN: dict[str, Any] = tomllib.loads((ROOT / "fixtures" / "objects" / "second-sources.toml").read_text())
FAMILY = re.compile(r"\d$")
INHERITED = 7  # slots of IUnknown and IDispatch


@pytest.fixture(scope="module")
def header(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Text of mqoai.h: the installed one, or that of the package, which apt-get downloads and nobody installs."""
    place = KNOWN["header"]
    installed = Path("/", place["path"])
    if installed.exists():
        return installed.read_text()
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        pytest.skip(f"{installed} is not there, and this is no Debian to download {place['package']} from")
    folder = tmp_path_factory.mktemp("header")
    got = subprocess.run(
        ["apt-get", "download", "-q", place["package"]], cwd=folder, capture_output=True, timeout=120, check=False
    )
    files = list(folder.glob("*.deb"))
    if got.returncode != 0 or not files:
        pytest.skip(f"apt-get cannot download {place['package']}")
    subprocess.run(["dpkg-deb", "-x", files[0], folder / "out"], check=True, timeout=60)
    return (folder / "out" / place["path"]).read_text()


def member(name: str) -> tuple[str, str]:
    """Kind and name of a member that the header writes as get_Label."""
    prefixed = re.fullmatch(r"(get|put|putref)_(\w+)", name)
    return (prefixed[1], prefixed[2]) if prefixed else ("method", name)


def tables(header: str) -> dict[str, list[tuple[str, str]]]:
    """Interface to its members in their order, those of IUnknown and IDispatch left out."""
    found = re.findall(r"typedef struct (\w+)Vtbl \{(.*?)END_INTERFACE", header, re.S)
    return {
        name: [member(each) for each in re.findall(r"\(WINAPI \*(\w+)\)", body)][INHERITED:] for name, body in found
    }


def enumerations(header: str) -> dict[str, dict[str, int]]:
    """Enumeration to its constants, as C counts them."""
    found: dict[str, dict[str, int]] = {}
    for name, body in re.findall(r"enum (\w+) \{(.*?)\}", header, re.S):
        value, constants = -1, found.setdefault(name, {})
        for constant, given in re.findall(r"(\w+)\s*(?:=([^,]*))?(?:,|$)", body.strip()):
            value = sum(int(part, 0) for part in given.split("+")) & 0xFFFFFFFF if given else value + 1
            constants[constant] = value
    return found


def newest(name: str, present: dict[str, Any]) -> str | None:
    """The newest revision of an interface, not newer than this one, that is present."""
    if name in present:
        return name
    family, revision = FAMILY.sub("", name), int(name[-1]) if FAMILY.search(name) else 1
    older = [f"{family}{number}" if number > 1 else family for number in range(revision, 0, -1)]
    return next((each for each in older if each in present), None)


def differences() -> dict[str, tuple[str, str]]:
    return {each["member"]: (each["document"], each["other"]) for each in KNOWN["difference"]}


def test_every_identifier_of_an_interface_is_that_of_the_windows_sdk() -> None:
    listed = KNOWN["metadata"]["interfaces"]
    assert len(listed) == 43
    assert {name: INTERFACES[name].uuid for name in listed} == {name: each["iid"] for name, each in listed.items()}
    assert {name for name in INTERFACES if name not in listed} == {
        "ITransaction",
        "IEnumConnections",
        "IConnectionPoint",
        "IEnumConnectionPoints",
        "IConnectionPointContainer",
    }


def test_every_base_is_that_of_the_windows_sdk() -> None:
    unlike = {
        f"{name} base": (INTERFACES[name].base, each["base"])
        for name, each in KNOWN["metadata"]["interfaces"].items()
        if INTERFACES[name].base != each["base"]
    }
    assert unlike == {name: pair for name, pair in differences().items() if name.endswith(" base")}


def test_every_identifier_of_a_class_is_that_of_the_windows_sdk() -> None:
    assert KNOWN["metadata"]["classes"] == COCLASSES


def test_the_header_has_the_interfaces_and_their_bases(header: str) -> None:
    bases = dict(re.findall(r"struct (\w+) : public (\w+) \{", header))
    assert set(INTERFACES) - set(bases) == set(KNOWN["header"]["absent"])
    unlike = {
        f"{name} base": (INTERFACES[name].base, base) for name, base in bases.items() if INTERFACES[name].base != base
    }
    assert unlike == {name: pair for name, pair in differences().items() if name.endswith(" base")}


def test_the_constants_have_the_slots_of_the_header(header: str) -> None:
    slots = tables(header)
    unlike: dict[str, tuple[str, str]] = {}
    compared = 0
    for name, methods in METHODS.items():
        where = newest(name, slots)
        for method in methods:
            if where is None or method.opnum - INHERITED >= len(slots[where]):
                continue
            other = slots[where][method.opnum - INHERITED]
            compared += 1
            if other != (method.invocation, method.name):
                place = f"{FAMILY.sub('', name) if where != name else name} {method.opnum}"
                unlike[place] = (f"{method.invocation} {method.name}", " ".join(other))
    assert compared > 230
    assert unlike == {place: pair for place, pair in differences().items() if not place.endswith(" base")}


def test_the_stranger_describes_the_slots_of_the_header(header: str) -> None:
    """adapters/activex-node has every revision, from the IDL of section 6."""
    described = json.loads((ROOT / "adapters" / "activex-node" / "interfaces.json").read_text())["interfaces"]

    def members(name: str) -> list[tuple[str, str]]:
        own = [(each["kind"], each["name"]) for each in described[name]["members"]]
        base = described[name]["base"]
        return (members(base) if base in described else []) + own

    unlike = {
        f"{name} {INHERITED + place}": (" ".join(mine), " ".join(other))
        for name, table in tables(header).items()
        for place, (mine, other) in enumerate(zip(members(name), table, strict=name != "_DMSMQEventEvents"))
        if mine != other
    }
    assert unlike == {"IMSMQApplication3 15": ("method ActiveQueues", "get ActiveQueues")}


def test_the_constants_have_the_enumerations_of_the_header(header: str) -> None:
    found, spelled = enumerations(header), {each["enumeration"]: each for each in KNOWN["spelling"]}
    ours = {name: each.members for name, each in ENUMERATIONS.items() if each.source.startswith("MC-MQAC")}
    assert set(ours) - set(found) == set(KNOWN["header"]["enumerations_absent"])
    for name, constants in ours.items():
        rule = spelled.get(name, {"document": "", "other": ""})
        if name in found:
            assert {each.replace(rule["document"], rule["other"]): value for each, value in constants.items()} == found[
                name
            ]
    assert len(ours) > 20


def test_the_codes_are_those_of_the_header(header: str) -> None:
    """MQERROR and MQWARNING, which section 6 of MC-MQAC prints a line out of step, against MS-MQMQ 2.4."""
    found = enumerations(header)
    codes = found["MQERROR"] | found["MQWARNING"]
    assert sorted(name for name in codes if name not in HRESULTS) == sorted(KNOWN["header"]["codes_beyond"])
    common = {name: code for name, code in codes.items() if name in HRESULTS}
    assert common == {name: HRESULTS[name] for name in common} and len(common) > 130


def test_each_difference_has_a_reason() -> None:
    assert all(
        each["reason"].endswith(".") and each["wrong"] in ("document", "header", "nobody")
        for each in KNOWN["difference"]
    )
