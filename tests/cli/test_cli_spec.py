"""`python -m tools.audit` and `mqconform requirements`, from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import command
from tests_cli import mqconform, one_sentence

from conformance.report.coverage import covered
from conformance.spec.catalogue import catalogue
from conformance.spec.constants.hresults import HRESULTS
from conformance.verdict import ExitCode

DOCUMENTS = Path(__file__).parents[1] / "spec" / "audit_documents"


def listed(*arguments: str) -> list[dict[str, str]]:
    done = mqconform("requirements", "list", *arguments, "--json")
    assert done.returncode == ExitCode.CONFORMS, done.stderr
    found: list[dict[str, str]] = json.loads(done.stdout)
    return found


def test_codes_are_listed_by_name() -> None:
    told = {entry["name"]: entry for entry in listed("--codes")}
    assert {name: entry["code"] for name, entry in told.items()} == HRESULTS
    assert told["MQ_ERROR_IO_TIMEOUT"] == {"name": "MQ_ERROR_IO_TIMEOUT", "code": 0xC00E001B, "source": "MS-MQMQ 2.4"}
    printed = mqconform("requirements", "list", "--codes").stdout.splitlines()
    assert "0xC00E001B  3222143003  MQ_ERROR_IO_TIMEOUT" in printed and len(printed) == len(HRESULTS)


def test_an_audit_that_finds_something_ends_with_one(tmp_path: Path) -> None:
    # A small document in the format of the real one, with a sentence that has no entry; most of the real one is gone.
    path = tmp_path / "mqmp.txt"
    text = (DOCUMENTS / "mqmp.txt").read_text(encoding="utf-8")
    path.write_text(text.replace(" MUST ", " MUST certainly "), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != text
    done = command(str(path), "--json", module="tools.audit")
    assert done.returncode == ExitCode.DEVIATES, done.stderr
    told = json.loads(done.stdout)
    assert (told["clean"], told["exit_code"]) == (False, 1)
    assert told["missing"] or told["changed"]
    assert told["gone"]
    printed = command(str(path), module="tools.audit")
    assert printed.returncode == ExitCode.DEVIATES
    counts = f"{len(told['missing'])} missing, {len(told['changed'])} changed, {len(told['gone'])} gone"
    assert counts in printed.stdout


@pytest.mark.parametrize("content", [None, b"", b"# Something else\n", b"\xff\xfe\x00"])
def test_a_file_that_cannot_be_audited_is_told(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "document.md"
    if content is not None:
        path.write_bytes(content)
    assert "document.md" in one_sentence(command(str(path), module="tools.audit"), ExitCode.BAD_INPUT)


def test_a_document_given_twice_is_told() -> None:
    path = str(DOCUMENTS / "mqmp.txt")
    assert "is given twice" in one_sentence(command(path, path, module="tools.audit"), ExitCode.BAD_INPUT)


def test_filters_select() -> None:
    section = listed("--section", "MQDMPR-3.2*")
    assert {entry["section"][:3] for entry in section} == {"3.2"}
    assert {entry["level"] for entry in listed("--section", "MQDMPR", "--level", "should")} == {"should"}
    assert {entry["checked"] for entry in listed("--checked", "call,history")} == {"call", "history"}
    one = next(iter(catalogue().requirements))
    assert [entry["id"] for entry in listed("--section", one)] == [one]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("list", "--section", "MQDMPR-3.2.7.33"), "did you mean MQDMPR-3.2.7.3?"),
        (("list", "--level", "muss"), "did you mean must?"),
        (("list", "--checked", "cal"), "did you mean call?"),
        (("show", "MQMQ-2.2.19.1.signatur"), "did you mean MQMQ-2.2.19.1.signature?"),
        (("coverage", "--section", "MQDMPR-3.2.7.33"), "did you mean"),
        (("coverage", "no-such-run"), "no-such-run"),
        (("coverage", "--selftest", "no-such-file"), "no-such-file"),
        (("coverage", "--profile", "msmq-7"), "did you mean msmq-"),
    ],
)
def test_an_unknown_selector_names_the_nearest(arguments: tuple[str, ...], told: str) -> None:
    assert told in one_sentence(mqconform("requirements", *arguments), ExitCode.BAD_INPUT)


def test_what_is_claimed_is_not_listed_as_unclaimed() -> None:
    names = {entry["id"] for entry in listed("--unclaimed", "--section", "MQMQ-2.2*")}
    assert "MQMQ-2.2.19.1.signature" not in names  # a packet rule
    assert not {entry["checked"] for entry in listed("--unclaimed")} & {"none", "white-box"}


def test_coverage_counts_claims_a_run_and_a_selftest(tmp_path: Path) -> None:
    run, caught = tmp_path / "run", tmp_path / "selftest.json"
    mqconform("run", "--suite", "transactions", "--max-examples", "2", "--out", str(run), "--", "-k", "abort")
    done = mqconform("selftest", "abort-requeues-at-end", "--out", str(caught))
    assert done.returncode == ExitCode.CONFORMS, done.stdout
    content = json.loads(caught.read_text())
    (trial,) = content["selftest"]
    assert trial["blamed"] in trial["caught"]
    assert covered().discriminated >= set(trial["caught"]), "the fault is recorded"
    arguments = ("requirements", "coverage", "--section", "MQDMPR-3.1.7.1.9", "--json")
    left = json.loads(mqconform(*arguments).stdout)["rest"][0]["requirement"]
    trial["caught"].append(left)
    caught.write_text(json.dumps(content))
    told = [json.loads(mqconform(*arguments, *extra).stdout) for extra in ((), (str(run), "--selftest", str(caught)))]
    bare, full = ({line["section"]: line for line in each["sections"]}["3.1.7.1.9"] for each in told)
    assert bare["reached"] == 0
    assert 0 < bare["claimed"] <= bare["checkable"] <= bare["entries"]
    assert full["claimed"] == bare["claimed"]
    assert full["reached"] > 0
    assert {one["requirement"] for one in told[0]["rest"]} & set(trial["caught"]) == {left}
    assert full["discriminated"] == bare["discriminated"] + 1
    assert len(told[1]["rest"]) == full["checkable"] - full["discriminated"]
    assert not {one["requirement"] for one in told[1]["rest"]} & set(trial["caught"])
    text = mqconform("requirements", "coverage", str(run), "--section", "MQDMPR-3.1.7.1.9", "--rest").stdout
    assert "no selftest result was given" in text
    assert all(f"{one['requirement']}: " in text for one in told[0]["rest"])
    caught.write_text("[]")
    bad = mqconform("requirements", "coverage", "--selftest", str(caught))
    assert "not a record of a selftest" in one_sentence(bad, ExitCode.BAD_INPUT)
