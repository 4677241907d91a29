"""The pytest plugin in a project of an implementer's own: its tests beside ours, with workers, and without us."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.runlog import read_run
from conformance.verdict import Outcome

EXAMPLE = Path(__file__).parents[2] / "examples" / "test_orders.py"
OWN = """
import pytest

PRIORITY = "MQDMPR-3.1.1.2.priority-before-arrival"


@pytest.mark.requirement(PRIORITY, "MQDMPR-3.1.1.2.arrival-order")
def test_broken(mq):
    assert mq.hello.name == "somebody else"


@pytest.mark.requirement("MQDMPR-3.1.1.12.label-unchanged")
def test_told_so(mq):
    pytest.fail("the label is another one")


@pytest.mark.requirement("MQDMPR-3.1.1.12.body-unchanged")
def test_not_there(mq, mq_need):
    mq_need("queues.create", "objects.call")


@pytest.mark.requirement("MQDMPR-3.1.7.1.7.other-queues-kept")
def test_kept(mq, judge):
    mq.call("queues.create", path_name=mq.hello.computer + "\\\\private$\\\\q")
    judge.holds("MQDMPR-3.1.1.2.arrival-order", True)


def test_about_nothing(mq):
    assert mq.offers("queues.create")
"""


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=folder)


def outcomes(folder: Path) -> dict[tuple[str, str], tuple[Outcome, int]]:
    return {
        (each.test.rpartition("::")[2], each.verdict.requirement): (each.verdict.outcome, each.count)
        for each in read_run(folder).verdicts
    }


def test_the_example(tmp_path: Path) -> None:
    done = pytest_in(tmp_path, str(EXAMPLE), "--mq-adapter=embedded", "--mq-out=out")
    assert done.returncode == 0, done.stdout
    assert re.search(r"^4 of \d,\d{3} requirements judged: 4 pass$", done.stdout, re.MULTILINE)
    assert {outcome for outcome, _ in outcomes(tmp_path / "out").values()} == {Outcome.PASS}


@pytest.mark.parametrize(
    ("fault", "broken"),
    [
        ("ignores-priority", "MQDMPR-3.1.1.2.priority-before-arrival"),
        ("recoverable-lost-on-restart", "MQDMPR-3.1.1.12.recoverable-survives"),
    ],
)
def test_the_example_catches(fault: str, broken: str, tmp_path: Path) -> None:
    done = pytest_in(tmp_path, str(EXAMPLE), f"--mq-adapter=embedded+{fault}", "--mq-out=out")
    assert done.returncode == 1, done.stdout
    assert f"FAIL {broken}" in done.stdout
    failing = {name for (_, name), (outcome, _) in outcomes(tmp_path / "out").items() if outcome is Outcome.FAIL}
    assert failing == {broken}
    stories = read_run(tmp_path / "out").stories
    assert any("messages.send" in step.text for step in stories[0].steps)
    assert not (tmp_path / "out" / "repros").exists()


def test_workers_judge_the_same(tmp_path: Path) -> None:
    for out, workers in (("one", []), ("two", ["-n", "2"])):
        done = pytest_in(tmp_path, str(EXAMPLE), "--mq-adapter=embedded", f"--mq-out={out}", *workers)
        assert done.returncode == 0, done.stdout
        assert re.search(r"^4 of \d,\d{3} requirements judged", done.stdout, re.MULTILINE)
    assert outcomes(tmp_path / "one") == outcomes(tmp_path / "two")
    assert len(read_run(tmp_path / "two").parts) == 3


def test_what_a_plain_test_says(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(OWN)
    done = pytest_in(tmp_path, "--mq-adapter=embedded", "--mq-out=out", "--strict-markers")
    assert done.returncode == 1
    assert {key: outcome for key, (outcome, _) in outcomes(tmp_path / "out").items()} == {
        ("test_broken", "MQDMPR-3.1.1.2.priority-before-arrival"): Outcome.FAIL,
        ("test_broken", "MQDMPR-3.1.1.2.arrival-order"): Outcome.INCONCLUSIVE,
        ("test_told_so", "MQDMPR-3.1.1.12.label-unchanged"): Outcome.FAIL,
        ("test_not_there", "MQDMPR-3.1.1.12.body-unchanged"): Outcome.SKIP,
        ("test_kept", "MQDMPR-3.1.7.1.7.other-queues-kept"): Outcome.PASS,
        ("test_kept", "MQDMPR-3.1.1.2.arrival-order"): Outcome.PASS,
    }


def test_the_module_in_the_documentation_beside_a_suite(tmp_path: Path) -> None:
    page = (EXAMPLE.parents[1] / "docs" / "python.md").read_text()
    module = next(block for block in page.split("```python\n")[1:] if "import pytest" in block).partition("```")[0]
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_docs.py").write_text(module)
    arguments = ["tests/", "--pyargs", "conformance.suites", "--mq-adapter=embedded", "--mq-out=out"]
    done = pytest_in(tmp_path, *arguments, "-k", "were_placed or names_given_out")
    assert done.returncode == 0, done.stdout
    assert {each.suite for each in read_run(tmp_path / "out").verdicts} == {"own", "names"}


def test_an_unknown_requirement_is_named(tmp_path: Path) -> None:
    marked = "import pytest\n@pytest.mark.requirement('MQDMPR-3.1.1.2.arrival-ordr')\ndef test_it(mq):\n    pass\n"
    (tmp_path / "test_own.py").write_text(marked)
    done = pytest_in(tmp_path, "--mq-adapter=embedded", "--mq-out=out")
    assert done.returncode == 4
    assert "did you mean" in done.stdout + done.stderr


def test_no_effect_when_unused(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(
        "import sys\n\n\ndef test_it():\n"
        "    loaded = sorted(name for name in sys.modules if name.startswith('conformance.'))\n"
        "    assert loaded == ['conformance.plugin', 'conformance.run_options', 'conformance.spec', "
        "'conformance.spec.versions'], loaded\n"
    )
    done = pytest_in(tmp_path, "-v")
    assert done.returncode == 0, done.stdout
    assert "MSMQ" not in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == ["test_own.py"]
    told = pytest_in(tmp_path, "--help").stdout
    group = told.partition("MSMQ conformance (mqconform):")[2].partition("\n\n")[0]
    assert group.count("--mq-") == told.count("--mq-") > 10
