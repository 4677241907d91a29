"""The Python API: what `import conformance` offers, and the examples that use it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import conformance
from conformance.command_options import BadInput
from conformance.grammar import names  # any room: importing one must not hide the API

EXAMPLES = Path(__file__).parents[1] / "examples"
VECTORS = Path(__file__).parents[1] / "fixtures" / "captures"


def python(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=cwd)


def test_importing_the_package_imports_nothing_of_it() -> None:
    code = "import conformance, sys; print([name for name in sys.modules if name.startswith('conformance.')])"
    assert python("-c", code).stdout == "[]\n"


def test_names_are_there_whatever_was_imported_first() -> None:
    """Importing the module `conformance.run` binds its name over the function's: it has to be both."""
    for first in ("conformance.run", "conformance.replay", "conformance.api", "conformance.cli.app"):
        code = (
            f"import {first}, conformance, inspect\n"
            "assert callable(conformance.run) and callable(conformance.replay)\n"
            "from conformance.command_options import BadInput\n"
            "from conformance import judge_again, judge_packet, Run, Verdict\n"
            "import conformance.command_options as room\n"
            "assert room.BadInput is conformance.BadInput\n"
            "assert set(conformance.__all__) <= set(dir(conformance))\n"
            "try: conformance.run(suites='nams')\n"
            "except conformance.BadInput as error: print(error)\n"
        )
        done = python("-c", code)
        assert "did you mean names?" in done.stdout, done.stderr


def test_no_name_is_made_up() -> None:
    assert names is not None
    with pytest.raises(AttributeError, match="no attribute 'jugde_packet'"):
        conformance.jugde_packet  # type: ignore[attr-defined]  # noqa: B018


def test_one_packet() -> None:
    verdicts = conformance.judge_packet(bytes(16))
    assert "MQMQ-2.2.19.1.signature" in {
        verdict.requirement for verdict in verdicts if verdict.outcome is conformance.Outcome.FAIL
    }
    assert conformance.judge_packet(b"") == conformance.judge_packet(bytearray(b""))


def test_a_packet_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "packet.bin"
    file.write_bytes(bytes(16))
    assert conformance.judge_packet(file) == conformance.judge_packet(bytes(16))
    with pytest.raises(BadInput, match="cannot be read"):
        conformance.judge_packet(tmp_path / "none.bin")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"profile": "msmq-7.0"}, "no profile"),
        ({"level": "mus"}, "did you mean must"),
        ({"readings": "stric"}, "did you mean strict"),
        ({"chosen": ["R-MQDMPR-seek-from-haed=x"]}, "did you mean"),
    ],
)
def test_a_word_that_names_nothing(wrong: dict[str, object], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=sentence):
        conformance.judge_packet(b"", **wrong)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=sentence):
        conformance.replay(VECTORS / "mqqb-4.1.pcapng", out=tmp_path / "out", **wrong)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=sentence):
        conformance.run(out=tmp_path / "out", **wrong)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_a_capture(tmp_path: Path) -> None:
    seen = []
    replayed = conformance.replay(VECTORS / "mqqb-4.1.pcapng", out=tmp_path, on_packet=seen.append)
    assert len(seen) == len(replayed.record.packets) > 5  # type: ignore[union-attr]
    assert {verdict.outcome for verdict in replayed.deviations} == {conformance.Outcome.FAIL}
    assert replayed.counts == conformance.read_run(tmp_path).counts
    assert not replayed.conforms
    with pytest.raises(BadInput, match="No file fits"):
        conformance.replay(str(tmp_path / "*.none"), out=tmp_path / "out")


def test_a_run_from_python(tmp_path: Path) -> None:
    """The example is run as it stands: it judges the embedded manager, and one with a fault."""
    good = python(str(EXAMPLES / "gate_in_python.py"), "embedded", "names", cwd=tmp_path)
    assert good.returncode == 0, good.stderr
    assert "verdicts, recorded in" in good.stdout
    bad = python(str(EXAMPLES / "gate_in_python.py"), "embedded+accepts-plus-in-queue-name", "names", cwd=tmp_path)
    assert bad.returncode == 1
    assert "MQMQ-2.1.2" in bad.stdout
    unknown = python(str(EXAMPLES / "gate_in_python.py"), "embeded", cwd=tmp_path)
    assert unknown.returncode == 1
    assert "gate: " in unknown.stderr and "Traceback" not in unknown.stderr


def test_packets_from_python(tmp_path: Path) -> None:
    file = tmp_path / "packet.bin"
    file.write_bytes(bytes(16))
    done = python(str(EXAMPLES / "judge_packets.py"), str(file))
    assert done.returncode == 1
    assert "MQMQ-2.2.19.1.signature" in done.stdout


def test_a_result_is_printed_in_a_line(tmp_path: Path) -> None:
    """The record behind it has megabytes."""
    result = conformance.run(suites="quotas", max_examples=1, steps=3, in_process=True, out=tmp_path / "run")
    assert result.record is not None
    for told in (result, result.record, conformance.judge_again(tmp_path / "run", out=tmp_path / "again")):
        assert len(repr(told)) < 400, type(told)
        assert " pass" in repr(told)
    assert str(tmp_path) in repr(result)
