"""The fixtures of the suite `names`, and what their reader refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.spec.catalogue import CatalogueError, catalogue
from conformance.suites.names.checks import CaseError, expand, load, section

SECTIONS = [f"2.1.{last}" for last in range(1, 8)]
# Names the manager gives out are judged where it gives them out, and ports where it connects, not by parsing.
ELSEWHERE = {f"MQMQ-2.1.{last}.sent" for last in range(1, 8)} | {
    "MQMQ-2.1.2.http-default-port",
    "MQMQ-2.1.2.https-default-port",
}

GROUP = """
section = "2.1.3"
form = "format_name"
control = "PUBLIC={G}"
[[group]]
rule = "PublicName"
"""


@pytest.mark.parametrize("number", SECTIONS)
def test_fixtures_are_sound(number: str) -> None:
    for case in section(number).cases:
        assert case.requirement.startswith(f"MQMQ-{number}.")
        assert case.expected
        assert "{" not in case.text or case.text == "[H]{T}\\q" or "{0123ABCD" in case.text


def test_every_requirement_on_names_has_cases() -> None:
    judged = {name for number in SECTIONS for name in section(number).by_requirement()}
    judged |= {f"MQMQ-{number}.{word}" for number in SECTIONS for word in ("kind", "parts")}
    wanted = {name for name in catalogue().requirements if name.startswith("MQMQ-2.1.")}
    assert wanted - judged == ELSEWHERE


def test_every_reading_on_names_is_decided_by_a_case() -> None:
    decided = {case.reading for number in SECTIONS for case in section(number).cases if case.reading}
    assert decided == {name for name in catalogue().readings if name.startswith("R-MQMQ-") and touches_names(name)}


def touches_names(name: str) -> bool:
    return any(touched.startswith("MQMQ-2.1.") for touched in catalogue().readings[name].requirements)


def test_tokens() -> None:
    assert expand("{ax3}{u+0A}") == "aaa\n"
    assert expand("{G}") == "0123ABCD-4567-89ab-CDEF-0123456789ab"
    assert expand({"elements": ["{bx2}", 1]}) == {"elements": ["bb", 1]}
    with pytest.raises(CaseError, match="repeats more than"):
        expand("{ax99999}")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('requirement = "MQMQ-2.1.3.public"\naccept = [{ queue = "q" }]\nkind = "public"', "lacks 'text'"),
        ('requirement = "MQMQ-2.1.3.journal"\nreading = "R-MQMQ-public-journal"\nreject = ["x"]', "neither"),
        ('requirement = "MQMQ-2.1.3.public"\ndisputed = []\naccept = []\nreading = "R-MQMQ-port"', "neither"),
        (
            'requirement = "MQMQ-2.1.3.journal"\nreading = "R-MQMQ-public-journal"\n'
            'disputed = [{ text = "x", under = { refused = "reject" } }]',
            "other alternatives",
        ),
        ('requirement = "MQMQ-2.1.3.trailing-reject"\nreject = ["x", "x"]', "stands twice"),
    ],
)
def test_an_unsound_fixture_is_refused(tmp_path: Path, lines: str, message: str) -> None:
    path = tmp_path / "names.toml"
    path.write_text(GROUP + lines, encoding="utf-8")
    with pytest.raises(CaseError, match=message):
        load(path)


def test_an_unknown_requirement_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "names.toml"
    path.write_text(GROUP + 'requirement = "MQMQ-2.1.3.publik"\nreject = ["x"]', encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"did you mean MQMQ-2\.1\.3\.public"):
        load(path)
