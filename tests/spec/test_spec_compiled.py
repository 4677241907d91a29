"""The compiled catalogue: the same as its files, whatever became of the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from conformance.spec import compiled
from conformance.spec.catalogue import catalogue
from conformance.spec.compiled import KINDS, Entries, build, load
from conformance.spec.entries import CatalogueError, Reading, Requirement

ENTRY = (
    '[[requirement]]\nid = "MQMQ-2.1.1.{word}"\nlevel = "must"\nrole = "any"\nchecked = "grammar"\nsays = "A {word}."\n'
)
READING = """[[reading]]
id = "R-MQMQ-word"
title = "A question"
requirements = ["MQMQ-2.1.1.{touched}"]
alternatives = {{ "yes" = "it is so", "no" = "it is not" }}
defaults = {{ windows = ["yes"], strict = ["yes"], permissive = ["yes", "no"] }}
evidence = "None."
sure = "open"
visible = true
"""
FINDING = '[[finding]]\nid = "D01"\ntitle = "A question"\nsections = ["MQMQ-2.1.1"]\nwhy = "It is read so."\n'


def files(folder: Path, **content: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in content.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


def names(rows: compiled.Rows) -> list[str]:
    return list(rows["requirement"])


def test_the_cache_holds_what_the_files_say(tmp_path: Path) -> None:
    cold = load(cache=tmp_path)
    assert list(tmp_path.glob("catalogue-*"))
    warm = load(cache=tmp_path)
    for kind, made in KINDS.items():
        assert dict(Entries(made, warm[kind])) == dict(Entries(made, cold[kind]))
    assert dict(Entries(Requirement, warm["requirement"])) == dict(catalogue().requirements)


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    data = files(tmp_path / "data", one=ENTRY.format(word="first"))
    assert names(load(data, tmp_path)) == ["MQMQ-2.1.1.first"]
    files(data, one=ENTRY.format(word="other"))
    os.utime(data / "one.toml", ns=(1, 1))  # the same size, another time
    assert names(load(data, tmp_path)) == ["MQMQ-2.1.1.other"]
    files(data, two=ENTRY.format(word="second"))
    assert names(load(data, tmp_path)) == ["MQMQ-2.1.1.other", "MQMQ-2.1.1.second"]
    (data / "one.toml").unlink()
    assert names(load(data, tmp_path)) == ["MQMQ-2.1.1.second"]


def damages(content: bytes) -> list[bytes]:
    head, body = content[:4], content[4:]
    return [
        b"",
        b"\n",
        b"[" * 100_000,
        b"null\nnull",
        head,
        content[: len(content) // 2],
        content.replace(b"first", b"worst"),
        head + b"{}",
        b"\xff\xfe" + content,
        body,
    ]


@pytest.mark.parametrize("which", range(10))
def test_a_broken_cache_is_made_again(which: int, tmp_path: Path) -> None:
    data = files(tmp_path / "data", one=ENTRY.format(word="first"))
    load(data, tmp_path)
    (path,) = tmp_path.glob("catalogue-*")
    whole = path.read_bytes()
    path.write_bytes(damages(whole)[which])
    assert names(load(data, tmp_path)) == ["MQMQ-2.1.1.first"]
    assert path.read_bytes() == whole


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    data = files(tmp_path / "data", one=ENTRY.format(word="first"))
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert names(load(data, blocked / "cache")) == ["MQMQ-2.1.1.first"]
    (tmp_path / "cache").mkdir()
    load(data, tmp_path / "cache")
    (path,) = (tmp_path / "cache").iterdir()
    path.unlink()
    path.mkdir()  # what stands in the way is no file
    assert names(load(data, tmp_path / "cache")) == ["MQMQ-2.1.1.first"]
    assert [entry.name for entry in (tmp_path / "cache").iterdir()] == [path.name]


def test_processes_that_race_all_get_the_catalogue(tmp_path: Path) -> None:
    code = "from conformance.spec.catalogue import catalogue; print(len(catalogue().requirements))"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    running = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    counts = {process.communicate(timeout=60)[0].strip() for process in running}
    assert counts == {str(len(catalogue().requirements))}
    assert not list(tmp_path.rglob(".catalogue-*"))


def test_few_caches_are_kept(tmp_path: Path) -> None:
    for number in range(compiled.MAX_KEPT + 3):
        load(files(tmp_path / f"data{number}", one=ENTRY.format(word="first")), tmp_path)
    assert len(list(tmp_path.glob("catalogue-*"))) == compiled.MAX_KEPT


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ([ENTRY.format(word="first"), ENTRY.format(word="first")], "MQMQ-2.1.1.first is defined twice"),
        ([ENTRY.format(word="first"), READING.format(touched="frist")], "did you mean MQMQ-2.1.1.first?"),
        ([ENTRY.format(word="first") + 'level = "must"\n'], "cannot be read"),
        ([ENTRY.format(word="first") + 'chekced = "none"\n'], "did you mean checked?"),
        ([ENTRY.format(word="first") + 'source = ["12"]\n'], "invalid source"),
        ([ENTRY.format(word="first") + "reason = 7\n"], "Expected `str | null`, got `int` - at `$.reason`"),
        ([ENTRY.format(word="first") + 'since = "msmq-3.0"\nuntil = "msmq-2.0"\n'], "the earlier msmq-2.0"),
        ([ENTRY.format(word="first").replace("grammar", "none") + 'reason = "duplicate-of X"\n'], "a duplicate of X"),
        (['[[requirment]]\nid = "x"\n'], "requirment"),
        ([FINDING + 'disposition = "reading"\n'], "go together"),
        ([FINDING + 'disposition = "ignored"\n'], "ignored"),
        ([FINDING + 'disposition = "reading"\nreading = "R-MQMQ-word"\n'], "which does not exist"),
        ([FINDING + 'disposition = "merged"\ninto = "D01"\n'], "neither another finding"),
        ([FINDING.replace("D01", "D1") + 'disposition = "editorial"\n'], "an id is"),
        ([FINDING + 'disposition = "editorial"\n', FINDING + 'disposition = "rejected"\n'], "finding D01 is defined"),
    ],
)
def test_wrong_data_is_refused_in_one_sentence(content: list[str], told: str, tmp_path: Path) -> None:
    data = files(tmp_path / "data", **{f"file{number}": text for number, text in enumerate(content)})
    with pytest.raises(CatalogueError) as error:
        load(data, tmp_path)
    assert told in str(error.value)
    assert "\n" not in str(error.value).strip()
    assert not list(tmp_path.glob("catalogue-*"))


def test_right_data_is_taken(tmp_path: Path) -> None:
    one = ENTRY.format(word="first") + READING.format(touched="first")
    one += FINDING + 'disposition = "reading"\nreading = "R-MQMQ-word"\n'
    rows = build([*files(tmp_path / "data", one=one).glob("*.toml")])
    assert [len(rows[kind]) for kind in KINDS] == [1, 1, 1]


def test_an_id_typo_in_code_fails_at_import(tmp_path: Path) -> None:
    good = next(iter(catalogue().requirements))
    module = tmp_path / "typo.py"
    code = f"from conformance.spec.catalogue import requirement_id\nNAME = requirement_id('{good}')\n"
    for text, passes in ((code, True), (code.replace(good, good + "s"), False)):
        module.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, str(module)], capture_output=True, text=True, check=False)
        assert (done.returncode == 0) is passes
        assert passes or f"did you mean {good}?" in done.stderr


def test_entries_made_together_are_those_made_one_by_one(tmp_path: Path) -> None:
    rows = load(cache=tmp_path)["reading"]
    together, single = Entries(Reading, rows), Entries(Reading, rows)
    known = next(iter(rows))
    first = together[known]
    assert list(together.values()) == [single[name] for name in rows]
    assert list(together.items()) == [(name, single[name]) for name in rows]
    assert together[known] is first, "what was handed out stays the same object"
    assert [found is together[name] for name, found in together.items()] == [True] * len(rows)


@pytest.mark.skipif(sys.platform == "win32", reason="on Windows platformdirs is asked")
@pytest.mark.parametrize("cache", [None, "", "/elsewhere", "/with a blank/é", "relative"])
@pytest.mark.parametrize("home", ["/home/somebody", "/"])
def test_the_cache_is_where_platformdirs_has_it(monkeypatch: pytest.MonkeyPatch, cache: str | None, home: str) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if cache is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", cache)
    monkeypatch.setenv("HOME", home)
    assert compiled.cache_folder() == user_cache_path("mqconform", appauthor=False)
