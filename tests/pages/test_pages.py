"""Every line of the pages that a reader types is run as it is printed, and ends as it should.

The reader has the base install; where a page needs an extra, the packages of the tests' own environment.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from base_install import Base
from nightly import NIGHTLY, sample
from page_lines import HELP, PROGRAMS, ROOT, Line, examples, lines, pages, program, tree
from scratch_copy import FILES, Given, give, make_scratch
from shared import shared

from conformance.cli.app import app
from conformance.cli.shared_options import command_of

BOUND = "-k 'create_queue or orders_come or planned_histories[30]'"
"""What keeps the suites short in a test: an option of pytest, from the environment."""
COMMANDS = {" ".join(words): command for words, command in tree()}
SUITES = ("mqconform run", "./mq run", "readings infer", "pytest ")
SHORTER: Mapping[str, str] = {
    "tcpdump -i any -w - port 1801 or udp port 3527": "cat fixtures/captures/consistent-session.pcapng",
    "tcpdump -i any -w - port 1801": "cat fixtures/captures/consistent-session.pcapng",
    "--budget 8h": "--budget 1s",
    "--budget 2h": "--budget 1s",
    "--budget 1h": "--budget 1s",
    "--budget 2m": "--budget 1s",
    "--budget 5m": "--budget 1s",
    "-n 4": "-n 2",
    "--workers 2": "--workers 1",  # each reads all suites
    "mqconform serve": "mqconform serve --ping-port 0",
    "127.0.0.1:1801": "127.0.0.1:0",
    "wire:mq1.lab": "wire:127.0.0.1?qm=9",  # where nothing listens
    "127.0.0.1?qm=9?timer": "127.0.0.1?qm=9&timer",
    "?listener=192.0.2.7,192.0.2.8,192.0.2.9": "&listener=127.0.0.2,127.0.0.3,127.0.0.4",
    "mq1.lab": "127.0.0.1",
    "wire check 127.0.0.1": "wire check '127.0.0.1?qm=9'",
    "--histories 10000": "--histories 3",
    # The run of the README's own driver has nothing to diagnose; and all faults take half a minute.
    "mqconform diagnose out": "mqconform diagnose theirs --fault ignores-priority",
    "--situations all": "--situations 300",
    "/var/captures": "captures/",
    "watch /var/spool/captures": "watch captures/ --once",
    "--against 'stdio:./my-driver'": "--against embedded",  # a driver that reads packets
    "python:my.driver:Driver": "python:conformance.embedded.driver:EmbeddedDriver",
}
"""Parts of lines that would listen to a network, go on for hours, or name what only a reader has; and what stands there
in a test."""
WITH_EXTRAS = ("docs/pipeline.md", "docs/lake.md", "docs/corpus-report.md", "docs/scale.md")
"""Pages about the extra `spark`."""
CODES: Mapping[str, int] = {
    "mqconform replay fixtures/captures/mqqb-4.1.pcapng": 1,
    "mqconform judge out": 1,
    "mqconform report mine theirs": 1,
    "mqconform repro out/repros/0123456789abcdef.json": 5,  # another implementation is asked: not reproduced
    "mqconform repro out/repros --adapter": 5,  # the driver of the page has not the deviation of `out`: not reproduced
    "mqconform baseline update out --reason 'no journals yet'": 1,
    "mqconform pipeline runs": 1,
    "mqconform serve": 5,
    "mqconform proxy": 5,
    "mqconform wire check": 3,
    "mqconform run --adapter wire:mq1.lab": 3,
    "mqconform run --adapter 'wire:mq1.lab": 3,
}
"""What a line that begins so ends with, where that is not 0: the runs that are given have a deviation, the driver of
the page does what the strict readings forbid, nobody is here to say yes to a change of the baseline, no client comes to
a server, and no server is there."""
_SPARK = "Spark is started; tests/pipeline runs these commands"
_MINUTES = "every fault of the embedded implementation takes minutes"
LONG: Mapping[str, str] = {
    "mqconform selftest ": _MINUTES,
    "mqconform selftest --wire": "starts servers, which tests/test_selftest_wire.py does",
    "mqconform pipeline ingest captures/": _SPARK,
    "mqconform pipeline watch /var/spool/captures --out lake": _SPARK,
    "mqconform pipeline sql": _SPARK,
    "mqconform requirements coverage": "every mutation is judged; the example of its help is run",
}
"""Beginnings of lines of pages that take long, and why; they are run where MQ_NIGHTLY=1, and everywhere understood."""
ELSEWHERE: Mapping[str, str] = {
    "python benchmarks/pipeline.py": "measures for many minutes, on an idle machine",
    "mqconform pipeline ingest s3://": "tests/pipeline/test_ingest_s3.py does, with a server",
    "mqconform pipeline ingest captures/ --out s3://": "tests/pipeline/test_ingest_s3.py does, with a server",
    "mqconform learn": "the base install has no AALpy, which it tells; tests/cli/test_cli_learn.py learns",
    "duckdb": "a program of others, not among those that the tests install",
    "MQ_ADAPTER='stdio:./driver' MQ_PACKAGE=": "tests/cli/test_ci_kits.py runs tox, which fetches what it installs",
}
"""Beginnings of lines that no test here runs, and why."""
CHANGING = "docs/contributing.md"
"""Its lines are those of the project after the changes that it tells of."""
TUTORIALS = ("docs/write-a-driver.md", CHANGING)
"""Done as they say, with their edits between their lines, by test_adapter_tutorial.py and test_contributing.py."""


def form(line: str) -> tuple[str, int, frozenset[str]] | None:
    """The command of a line, how long it is without options, and their names; None for other programs and in a pipe."""
    words = shlex.split(line, comments=True)
    if words[:1] != ["mqconform"] or {"|", ">", "--"} & {*words}:
        return None
    name = next((name for name in COMMANDS if words[1 : 1 + len(name.split())] == name.split()), None)
    options = [at for at, word in enumerate(words) if word.startswith("--")]
    names = frozenset(words[at].partition("=")[0] for at in options)
    return name and (name, min(options, default=len(words)), names)


def typed(page: str) -> Sequence[Line]:
    """The lines of a page that are run."""
    forms = {form(line) for command in COMMANDS.values() for line in examples(command)} - {None}
    every = lines(page)
    extra = page in WITH_EXTRAS  # without which an example does nothing
    push = [one for one in every if extra or form(one.text) not in forms or beginning(one.text, CODES)]
    return sample("docs.lines-like-an-example", every, push)


def beginning(line: str, table: Mapping[str, object]) -> str | None:
    """The longest key of a table that a line begins with."""
    return max((key for key in table if f"{line} ".startswith(key)), key=len, default=None)


def run(line: str, folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a line as a shell does."""
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=1_800,  # only ends what hangs
        check=False,
    )


@pytest.fixture(scope="session")
def given(base: Base, tmp_path_factory: pytest.TempPathFactory) -> Given:
    def make(folder: Path) -> None:
        for name, adapter in (("good", "embedded"), ("bad", "embedded+accepts-plus-in-queue-name")):
            line = (
                f"mqconform run --adapter {adapter} --suite names,situations --max-examples 1 --out {name} -- {BOUND}"
            )
            done = run(line, folder, base.variables())
            assert done.returncode == (name == "bad"), done.stderr
        line = "mqconform selftest commit-seen-in-pieces --out selftest.json"
        assert run(line, folder, base.variables()).returncode == 0

    folder = shared(tmp_path_factory, "given", make)
    return Given(base, folder / "good", folder / "bad", folder / "selftest.json")


def tried(line: str, folder: Path, given: Given, *, extras: bool = False, code: int | None = None) -> str:
    """Run a line where what it names is; what it said. Fails where it ends otherwise than it should."""
    text = line
    for long, short in SHORTER.items():
        text = text.replace(long, short)
    give(text, folder, given)
    bound = BOUND if any(word in text for word in SUITES) else ""
    environment = given.base.variables(PYTEST_ADDOPTS=bound, MQ_PYTHON=sys.executable)
    if extras:
        environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment["PYTHONPATH"] = str(ROOT)
    done = run(text, folder, environment)
    said = done.stdout + done.stderr
    wanted = CODES.get(beginning(line, CODES) or "", 0) if code is None else code
    assert done.returncode == wanted, f"{line}\nended with {done.returncode} and not {wanted}:\n{said[-3000:]}"
    assert "Traceback" not in said and "defect of mqconform" not in said, said[-3000:]
    return said


TYPED = [page for page in pages() if page not in (HELP, *TUTORIALS) and typed(page)]


@pytest.mark.parametrize("page", TYPED)
def test_the_lines_of_a_page_run_in_their_order(page: str, given: Given, tmp_path: Path) -> None:
    folder = tmp_path / "clone"
    make_scratch(folder, given.base)
    for line in typed(page):
        if beginning(line.text, ELSEWHERE) or (beginning(line.text, LONG) and not NIGHTLY):
            continue
        if program(line.text) in ("git", "tshark") and shutil.which(program(line.text)) is None:
            if os.environ.get("CI"):
                pytest.fail(f"{program(line.text)} is not installed", pytrace=False)
            continue
        tried(line.text, folder, given, extras=page in WITH_EXTRAS)


SELFTEST = "selftest"
"""The fixture of these tests runs one in the base install."""


TRIED = sample("docs.examples", [*COMMANDS], [name for name in COMMANDS if name != SELFTEST])


@pytest.mark.parametrize("name", TRIED)
def test_the_example_of_a_command_runs_in_the_base_install(name: str, given: Given, tmp_path: Path) -> None:
    """It ends in its result, or in one sentence that names the extra."""
    found = examples(COMMANDS[name])
    assert any(f"mqconform {name}" in line for line in found), f"mqconform {name} has no example"
    for number, line in enumerate(found):
        folder = tmp_path / f"clone-{number}"
        make_scratch(folder, given.base)
        if line.startswith("tshark"):
            shutil.copyfile(tmp_path / "clone-0" / "msmq.lua", folder / "msmq.lua")
            if shutil.which("tshark") is None:
                continue
        if name.startswith("pipeline "):
            said = tried(line, folder, given, code=2)
            extra = "columns,lake" if name.split()[1] in ("ingest", "watch") else "lake"
            assert f"with pip install 'mqconform[{extra}]'" in said and said.count("\n") == 1, said
        elif name == "learn":
            said = tried(line, folder, given, code=2)
            assert "pip install 'mqconform[learn]'" in said and said.count("\n") == 1, said
        else:
            tried(line, folder, given)


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("mqconform replay --columns site.pcapng", 2, "pip install 'mqconform[columns]'"),
        ("mqconform report out --csv verdicts.csv", 0, ""),
        ("mqconform pipeline report lake", 2, "pip install 'mqconform[lake]'"),
    ],
)
def test_what_else_may_need_an_extra(line: str, code: int, says: str, given: Given, tmp_path: Path) -> None:
    folder = tmp_path / "clone"
    make_scratch(folder, given.base)
    assert says in tried(line, folder, given, code=code)


def test_every_line_is_understood() -> None:
    """Also those that are not run here: their options are there, and take what they are given."""
    root = command_of(app)
    seen = 0
    for line in (line for page in pages() if page != CHANGING for line in lines(page)):
        words = shlex.split(line.text.split(" | ")[-1], comments=True)
        if words[0] != "mqconform":
            continue
        for sign in (">", "<"):
            words = words[: words.index(sign)] if sign in words else words
        command, arguments = root, words[1:]
        while hasattr(command, "commands"):
            assert arguments[0] in command.commands, line
            command, arguments = command.commands[arguments[0]], arguments[1:]
        command.make_context(line.text, list(arguments))
        seen += 1
    assert seen > 50


def test_the_tables_hold_nothing_that_is_no_line_any_more() -> None:
    every = [line.text for page in pages() for line in lines(page)]
    for table in (CODES, LONG, ELSEWHERE):
        assert not [key for key in table if not any(f"{line} ".startswith(key) for line in every)]
    changed = every
    for part, short in SHORTER.items():  # in their order: one may shorten what another has made
        assert any(part in line for line in changed), part
        changed = [line.replace(part, short) for line in changed]
    assert not [name for name in FILES if not any(name in line for line in every)]
    assert not {program(line) for line in every} - set(PROGRAMS)
    assert set(TUTORIALS) <= set(pages()) and all(map(lines, TUTORIALS))
