"""Small files of strangers cost what their size suggests."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.files import UnfitError, json_value, text_of, toml_table

ROOT = Path(__file__).parents[1]
BOMBS = {
    "dots": ("a" + ".a" * 50_000 + " = 1\n", "more than 32 dots"),
    "dots of a quoted key": ('"a"' + ' . "=" ' * 50_000 + " = 1\n", "more than 32 dots"),
    "dots of a header": ("[a" + ". a" * 50_000 + "]\n", "more than 32 dots"),
    "dots in a table": ("x = {a" + ".a" * 50_000 + " = 1}\n", "more than 32 dots"),
    "digits": ("x = " + "9" * 5_000 + "\n", "more than 308 digits"),
    "digits with lines": ("x = [1, " + "9_9" * 5_000 + "]\n", "more than 308 digits"),
    "depth": ("x = " + "[" * 100_000 + "\n", "nested too deeply"),
    "no TOML": ("x = \n", "not valid TOML"),
}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("record") / "out"
    assert (
        command("replay", str(ROOT / "fixtures/captures/consistent-session.pcapng"), "--out", str(out)).returncode == 0
    )
    return out


@pytest.mark.parametrize("name", BOMBS)
def test_a_baseline_that_would_cost_too_much_is_refused(name: str, record: Path, tmp_path: Path) -> None:
    """By the command, with 1 GiB of memory, in one sentence."""
    text, says = BOMBS[name]
    with pytest.raises(UnfitError, match=says):
        toml_table(text)
    (tmp_path / "baseline.toml").write_text(text, encoding="utf-8")
    done = command("gate", str(record), "--baseline", str(tmp_path / "baseline.toml"))
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr, done.stderr


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "conformance", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
    )


@pytest.mark.parametrize(
    "text",
    [
        'x = "' + "a." * 500 + '"\n',
        "x = '" + "9" * 500 + "' # " + "9" * 500 + ".a" * 500 + "\n",
        'x = """a."b".c""' + ".a" * 500 + '"""\n',
        "x = '''it's" + ".a" * 500 + "'''\n",
        "a.b.c = 1.5\n",
    ],
)
def test_texts_and_comments_are_no_keys(text: str) -> None:
    assert toml_table(text)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(IsADirectoryError):
        text_of(tmp_path, 1 << 20)
    for path in (tmp_path / "fifo", Path("/dev/zero")):
        with pytest.raises(UnfitError, match="is not a file"):
            text_of(path, 1 << 20)
    (tmp_path / "large").write_bytes(b"x" * (2 << 20))
    with pytest.raises(UnfitError, match="larger than 1 MiB"):
        text_of(tmp_path / "large", 1 << 20)
    (tmp_path / "bytes").write_bytes(b"\xff")
    with pytest.raises(UnfitError, match="not UTF-8"):
        text_of(tmp_path / "bytes", 1 << 20)


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5_000, "{", ""])
def test_json_that_is_none(text: str) -> None:
    with pytest.raises(UnfitError):
        json_value(text)
