"""Arguments that are wrong: told before anything is started, in one plain sentence that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import command
from tests_cli import mqconform, one_sentence

from conformance.files import resource
from conformance.verdict import ExitCode

CAPTURE = str(Path(__file__).parents[2] / "fixtures" / "captures" / "mqqb-4.1.pcapng")
COLOURED = "\x1b[31m\u202e\x07\u200b"
STRANGE = f"{COLOURED}\nmqconform: all is well"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["replay", f"{STRANGE}.pcap"], ExitCode.BAD_INPUT),
        (["repro", STRANGE], ExitCode.BAD_INPUT),
        (["adapter", "check", f"stdio:'./{STRANGE}'"], ExitCode.UNUSABLE),
        (["adapter", "check", f"embedded+{COLOURED}"], ExitCode.BAD_INPUT),
        (["grammar", "parse", "--form", STRANGE, "x"], ExitCode.BAD_INPUT),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_what_a_terminal_obeys_is_told_escaped(arguments: list[str], code: ExitCode) -> None:
    done = mqconform(*arguments)
    sentence = one_sentence(done, code)
    assert sentence.isprintable()
    assert r"\x1b[31m\u202e\x07\u200b" in sentence


def test_an_endless_argument_is_not_repeated() -> None:
    sentence = one_sentence(mqconform("readings", "show", "R-" + "x" * 120_000), ExitCode.BAD_INPUT)
    assert sentence.startswith("mqconform: There is no reading R-xxx")
    assert "characters left out" in sentence
    assert len(sentence) < 2_000


def test_a_second_filter_is_refused_and_not_dropped() -> None:
    done = mqconform("replay", CAPTURE, "--filter", "source=nope", "--filter", "queue=*")
    assert "--filter 'source=nope queue=*'" in one_sentence(done, ExitCode.BAD_INPUT)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["ingest", "nofile", "--out", "lake"], "There is no file nofile."),
        (["watch", "nofolder", "--out", "lake"], "There is no folder nofolder; watch one"),
        (["watch", "text.txt", "--out", "lake"], "text.txt is not a folder; watch one"),
        (["ingest", str(CAPTURE), "--out", "text.txt"], "text.txt is a file: name a folder."),
        (["ingest", "text.txt", "--out", "text.txt"], "--out names text.txt, which is the input"),
        (["ingest", "text.txt", "--out", "text.txt/lake"], "The lake text.txt/lake cannot be made: Not a directory."),
        (["sql", "text.txt", "select 1"], "text.txt is a file: name a folder."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_a_pipeline_is_given_is_looked_at_before_spark(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no Java, which would be told first by whoever starts Spark."""
    pytest.importorskip("pyspark")
    _beside_a_text(tmp_path, monkeypatch)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nojava"))
    done = mqconform("pipeline", *arguments)
    assert told in one_sentence(done, ExitCode.BAD_INPUT)
    assert "Spark" not in done.stderr
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["readings", "infer", "--suite", "nope", "--adapter"], "There is no suite 'nope'"),
        (["readings", "infer", "--out", "text.txt", "--adapter"], "text.txt cannot be written (File exists)"),
        (["replay", CAPTURE, "--out", "text.txt", "--against"], "text.txt cannot be written (File exists)"),
        (["replay", CAPTURE, "--out", "text.txt/out", "--against"], "text.txt/out cannot be written (Not a directory)"),
    ],
    ids=lambda value: " ".join((value[0], *value[2:4])) if isinstance(value, list) else "",
)
def test_arguments_are_looked_at_before_the_driver_starts(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver would leave a file, and end."""
    _beside_a_text(tmp_path, monkeypatch)
    assert told in one_sentence(mqconform(*arguments, "stdio:touch started"), ExitCode.BAD_INPUT)
    assert not (tmp_path / "started").exists()


def _beside_a_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "text.txt").write_text("hello")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.chdir(folder)


@pytest.mark.parametrize("word", ["build", "check"])
@pytest.mark.parametrize(
    ("start", "told"),
    [
        ("nope", "There is no rule 'nope' in ok.abnf."),
        ("", "There is no rule '' in ok.abnf."),
        ("mesage", "There is no rule 'mesage' in ok.abnf; did you mean message?"),
    ],
)
def test_a_start_rule_that_is_not_there_is_blamed_itself(
    word: str, start: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _beside_a_text(tmp_path, monkeypatch)
    (tmp_path / "ok.abnf").write_text('message = "m" word\nword = 1*ALPHA\n')
    assert told in one_sentence(command(word, "ok.abnf", "--start", start, module="tools.grammar"), ExitCode.BAD_INPUT)


def test_start_rules_may_be_of_different_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _beside_a_text(tmp_path, monkeypatch)
    for name in ("a", "b"):
        (tmp_path / f"{name}.abnf").write_text(f'{name} = "m"\n')
    done = command("check", "a.abnf", "b.abnf", "--start", "A", "--start", "b", module="tools.grammar")
    assert done.returncode == ExitCode.CONFORMS, done.stderr


@pytest.mark.parametrize("day", ["tomorrow", "2099-02-30", "20990101", ""])
def test_a_day_that_is_none_is_told_with_its_form(day: str) -> None:
    done = mqconform("baseline", "update", "rec", "--expires", day)
    assert done.returncode == ExitCode.BAD_INPUT
    assert f"Invalid date '{day}': write YYYY-MM-DD." in " ".join(done.stderr.split())
    assert "Value error" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["show", "MQMQ-2.2.19.1"], "with mqconform requirements list --section MQMQ-2.2.19.1"),
        (["show", "MQMQ-2.2.19.1"], "MQMQ-2.2.19.1 is a section with "),
        (["show", "MQMQ-2.2.19*"], "requirements list --section 'MQMQ-2.2.19*'"),
        (["show", "MQMQ-2.2.19.1.flags-x"], "There is no requirement MQMQ-2.2.19.1.flags-x; did you mean "),
        (["list", "--section", "MQDMPR-99*"], "No requirement matches 'MQDMPR-99*'."),
        (["list", "--section", "MQDMPR-99"], "No requirement matches 'MQDMPR-99'."),
        (["list", "--section", "MQDMRP-3.1.7.1.10"], "did you mean MQDMPR-3.1.7.1.10?"),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_what_is_told_of_a_requirement_that_is_none(arguments: list[str], told: str) -> None:
    assert told in one_sentence(mqconform("requirements", *arguments), ExitCode.BAD_INPUT)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["grammar", "parse", "--reading", "R-MQMQ-prt=x", "x"], "did you mean R-MQMQ-port?"),
        (["serve", "--fault", "correlation-revrsed"], "did you mean correlation-reversed?"),
        (["replay", "mqqb-4.1.pcap"], "There is no file mqqb-4.1.pcap; did you mean mqqb-4.1.pcapng?"),
        (["replay", "mqqb-4.1.pcapng", "--filter", "kind=Usermesage"], "did you mean UserMessage?"),
        (["gate", "mqqb-4.1.pcap"], "There is no run record at mqqb-4.1.pcap; did you mean mqqb-4.1.pcapng?"),
        (["repro", "mqqb-4.1.pcap"], "There is no file or folder mqqb-4.1.pcap; did you mean mqqb-4.1.pcapng?"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_question_about_a_near_name_ends_the_sentence(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _beside_a_text(tmp_path, monkeypatch)
    (tmp_path / "mqqb-4.1.pcapng").write_bytes(resource("fixtures/captures/mqqb-4.1.pcapng").read_bytes())
    assert one_sentence(mqconform(*arguments), ExitCode.BAD_INPUT).endswith(told)
