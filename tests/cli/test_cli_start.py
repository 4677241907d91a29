"""What a process that starts does without."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

CAPTURE = Path(__file__).parents[2] / "fixtures" / "captures" / "cut-record.pcap"
HEAVY = ("pytest", "hypothesis", "scapy", "lark", "pyarrow", "pandas", "pyspark", "cryptography", "numba")


def imported(code: str, *words: str) -> set[str]:
    """The packages that are there after this code ran as a program with these arguments."""
    told = (
        "import sys\n"
        f"try:\n    {code}\n"
        "except SystemExit:\n    pass\n"
        "print('\\n' + ' '.join({name.partition('.')[0] for name in sys.modules}))\n"
    )
    done = subprocess.run([sys.executable, "-c", told, *words], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("words", [["--help"], ["replay", "--help"]], ids=" ".join)
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    assert not imported("from conformance.cli import main; main()", *words).intersection({*HEAVY, "numpy", "llvmlite"})


def test_a_replay_by_columns_imports_nothing_it_does_not_need(tmp_path: Path) -> None:
    words = ["replay", "--columns", "--packets-only", str(CAPTURE), "--out", str(tmp_path)]
    imported("from conformance.cli import main; main()", *words)  # whatever has to be compiled is
    assert not imported("from conformance.cli import main; main()", *words).intersection(HEAVY)


def test_one_report_does_not_import_the_others() -> None:
    code = "import conformance.report, sys; print('conformance.report.sarif' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_every_report_is_there_under_its_name() -> None:
    import conformance.report as room

    assert all(callable(getattr(room, name)) for name in room.__all__)
    assert "render_html" in room.__all__
    with pytest.raises(AttributeError, match="no attribute 'render_nothing'"):
        _ = room.render_nothing


def test_drivers_do_not_inherit_what_is_for_a_replay(tmp_path: Path) -> None:
    """Only a replay by columns, which starts no driver, keeps numpy's library to one thread."""
    told = (
        "import os\n"
        "from conformance.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(os.environ.get('OPENBLAS_NUM_THREADS'))\n"
    )
    without = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    for words, wanted in ((["replay", str(CAPTURE)], "None"), (["replay", "--columns", str(CAPTURE)], "1")):
        command = [sys.executable, "-c", told, *words, "--out", str(tmp_path / wanted)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=without)
        assert done.stdout.splitlines()[-1] == wanted


SIGNALLED = """
import os, runpy, signal, sys
class Signals:
    def find_spec(self, name, path=None, target=None):
        if name == "conformance.cli":
            os.kill(os.getpid(), int(sys.argv[1]))
sys.meta_path.insert(0, Signals())
runpy.run_module("conformance", run_name="__main__")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_during_the_first_imports_is_one_sentence(number: int) -> None:
    command = [sys.executable, "-c", SIGNALLED, str(int(number))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "mqconform: Interrupted.\n")


def test_until_signals_are_handled_hardly_anything_is_imported() -> None:
    code = "import sys; before = set(sys.modules); import conformance.interrupts; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert not {"typing", "threading", "re"}.intersection(done.stdout.split())


def test_a_library_handles_no_signal() -> None:
    code = "import signal, conformance, conformance.api, conformance.cli as c; print(signal.getsignal(2).__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "default_int_handler\n"


def test_an_interruption_within_made_code_is_no_death_by_a_signal(tmp_path: Path) -> None:
    """As it comes to be where a dataclass is made: the interpreter remembers it, although it was caught."""
    (tmp_path / "interrupted.py").write_text(
        "import sys\n"
        "from conformance import interrupts\n"
        "interrupts.begin()\n"
        "interrupts.work_begins()\n"
        "try:\n    exec('raise KeyboardInterrupt')\nexcept KeyboardInterrupt:\n    pass\n"
        "interrupts.work_is_over(0)\n"
        "sys.exit(130)\n"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, "-m", "interrupted"], env={**os.environ, "PYTHONPATH": path}, check=False, capture_output=True
    )
    assert (done.returncode, done.stderr) == (130, b"")
