"""The catalogue's own rules: ids, levels, reasons, and what happens to a wrong one."""

import pytest

from conformance.spec.catalogue import NEEDS, CatalogueError, assignment, catalogue, reading_id, requirement_id
from conformance.spec.entries import requirement_of
from conformance.spec.versions import PROFILES, READING_SETS, applies

GOOD = {"id": "MQMQ-2.1.1.word", "level": "must", "role": "any", "checked": "grammar", "says": "A thing."}


def test_it_loads_and_is_not_empty() -> None:
    assert len(catalogue().requirements) >= 200
    assert len(catalogue().readings) >= 10


def test_every_entry_says_something_of_its_own() -> None:
    for entry in catalogue():
        assert len(entry.says) >= 12, entry.id
        assert "\n" not in entry.says, entry.id


def test_an_unknown_id_names_the_nearest() -> None:
    known = next(iter(catalogue().requirements))
    with pytest.raises(CatalogueError, match=known):
        requirement_id(known + "x")
    reading = next(iter(catalogue().readings))
    with pytest.raises(CatalogueError, match=reading):
        reading_id(reading + "x")


@pytest.mark.parametrize(
    "change",
    [
        {"id": "MQMQ-2.1.1.1"},
        {"id": "MQXX-2.1.1.word"},
        {"id": "MQMQ-word"},
        {"level": "shall"},
        {"checked": "guess"},
        {"checked": "none"},
        {"checked": "none", "reason": "lazy"},
        {"since": "msmq-9.0"},
        {"checked": "environment"},
        {"checked": "environment", "needs": "luck"},
        {"checked": "environment", "needs": ""},
        {"needs": "peer"},
        {"checked": "none", "reason": "definition", "needs": "peer"},
    ],
)
def test_a_wrong_entry_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(CatalogueError):
        requirement_of({**GOOD, **change}, "test.toml")


def test_what_an_environment_entry_needs_is_of_a_closed_list() -> None:
    for name in NEEDS:
        entry = requirement_of({**GOOD, "checked": "environment", "needs": name}, "test.toml")
        assert entry.needs == name and entry.checkable
    with pytest.raises(CatalogueError, match="did you mean directory"):
        requirement_of({**GOOD, "checked": "environment", "needs": "directry"}, "test.toml")
    told = {entry.needs for entry in catalogue() if entry.checked == "environment"}
    assert told == set(NEEDS) and {entry.needs for entry in catalogue() if entry.checked != "environment"} == {None}


@pytest.mark.parametrize("missing", ["id", "level", "role", "checked", "says"])
def test_a_missing_member_is_refused(missing: str) -> None:
    with pytest.raises(CatalogueError):
        requirement_of({key: value for key, value in GOOD.items() if key != missing}, "test.toml")


def test_a_good_entry_is_taken() -> None:
    assert requirement_of(GOOD, "test.toml").section == "2.1.1"


@pytest.mark.parametrize("name", READING_SETS)
def test_every_reading_set_decides_every_reading(name: str) -> None:
    chosen = assignment(name)
    assert set(chosen) == set(catalogue().readings)
    assert all(chosen.values())


def test_an_unknown_reading_set_names_the_nearest() -> None:
    with pytest.raises(CatalogueError, match="windows"):
        assignment("window")


def test_versions_bound_both_ways() -> None:
    assert [profile for profile in PROFILES if applies(profile, "msmq-2.0", "msmq-3.0")] == ["msmq-2.0", "msmq-3.0"]
