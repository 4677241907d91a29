"""Captures in S3, as a server on loopback speaks it: the commands, with the verdicts that local files get."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lake_helpers import CAPTURES, put, rows, said
from s3_server import upload
from session_corpus import write_sessions
from spark_helpers import COMMAND, ENVIRONMENT, need_spark

from conformance.capture.files import CHANGED_BEFORE, ChangedError, open_file
from conformance.pipeline.lake import Lake

NAMES = ("consistent-session.pcapng", "pcapng-gzip.pcapng.gz", "vlan.pcap", "raw-ip.pcap")
BUCKET = "s3://captures"


@pytest.fixture(scope="module", autouse=True)
def bucket(s3: str) -> None:
    upload("captures", {f"day/{name}": CAPTURES / name for name in NAMES})


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run mqconform in the environment of the tests."""
    aws = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    return subprocess.run(
        [*COMMAND[:3], *arguments], env={**ENVIRONMENT, **aws}, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize("how", [{}, {"sessions": False, "split": 3000}], ids=["all", "packets-alone"])
def test_a_bucket_gives_the_rows_of_the_files(tmp_path: Path, how: dict) -> None:
    local, wanted = put(tmp_path / "local", [CAPTURES / name for name in NAMES], **how)
    lake, done = put(tmp_path / "lake", [f"{BUCKET}/day"], **how)
    assert said(lake) == said(local) and done.outcomes == wanted.outcomes and done.packets == wanted.packets
    assert {row["path"] for row in rows(lake, "captures")} == {f"{BUCKET}/day/{name}" for name in NAMES}
    _, again = put(tmp_path / "lake", [f"{BUCKET}/*/*.pcap", f"{BUCKET}/day/"], **how)
    assert (again.captures, again.known) == (0, len(NAMES))


def test_an_object_that_is_written_again_is_another_one() -> None:
    """S3 refuses to read the one that was opened, by its tag."""
    import s3fs

    system, name = s3fs.S3FileSystem(use_listings_cache=False), f"{BUCKET}/other/changing.pcap"
    system.pipe_file(name, bytes(2000))
    file, held = open_file(name), open_file(name).held()
    assert file.read_at(0, 10) == bytes(10) and file.lasting
    system.pipe_file(name, bytes(1999) + b"x")
    for read in (lambda: file.read_at(5, 10), file.check, lambda: held.need(0, 100)):
        with pytest.raises(ChangedError):
            read()
    with pytest.raises(ChangedError, match=CHANGED_BEFORE):
        open_file(name, file.version)
    system.rm_file(name)
    with pytest.raises(ChangedError, match="vanished"):
        file.check()


def test_the_pipeline_ingests_a_prefix_on_spark(tmp_path: Path) -> None:
    need_spark()
    done = command("pipeline", "ingest", f"{BUCKET}/day", "--out", str(tmp_path / "lake"), "--master", "local[2]")
    assert done.returncode == 0, done.stderr
    assert f"{len(NAMES)} captures of {len(NAMES)} streams" in done.stdout
    assert said(Lake.open(tmp_path / "lake")) == said(put(tmp_path / "here", [CAPTURES / name for name in NAMES])[0])


def test_replay_reads_objects(tmp_path: Path) -> None:
    done = command("replay", f"{BUCKET}/day", "--out", str(tmp_path / "run"), "--json")
    local = command(
        "replay", *(str(CAPTURES / name) for name in sorted(NAMES)), "--out", str(tmp_path / "own"), "--json"
    )
    assert done.returncode == local.returncode == 0, done.stderr
    found, wanted = json.loads(done.stdout), json.loads(local.stdout)
    assert [one["path"] for one in found["captures"]] == [f"{BUCKET}/day/{name}" for name in sorted(NAMES)]
    less = [{name: value for name, value in one.items() if name != "path"} for one in found["captures"]]
    assert less == [{name: value for name, value in one.items() if name != "path"} for one in wanted["captures"]]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("gs://bucket/day", "gs:// needs gcsfs: pip install"),
        ("dbfs:/mnt/day", "the path /dbfs/mnt/day"),
        ("http://127.0.0.1/day", "No captures can be read from http://"),
        (f"{BUCKET}/nothing/x.pcap", f"There is no file {BUCKET}/nothing/x.pcap."),
        ("s3://no-such-bucket/", "cannot be listed: No such file"),
    ],
)
def test_an_address_that_cannot_be_used_ends_the_command_before_spark_starts(
    tmp_path: Path, name: str, says: str
) -> None:
    done = command("pipeline", "ingest", name, "--out", str(tmp_path / "lake"))
    assert done.returncode == 2 and not done.stdout and not (tmp_path / "lake").exists()
    (line,) = done.stderr.splitlines()
    assert says in line


def test_a_lake_is_a_folder_and_a_file_address_means_one(tmp_path: Path) -> None:
    for place in (f"{BUCKET}/lake", "dbfs:/lake"):
        done = command("pipeline", "sql", place, "select 1")
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    lake, _ = put(tmp_path / "lake", [f"file:{CAPTURES}/vlan.pcap"])
    assert [row["path"] for row in rows(lake, "captures")] == [f"{CAPTURES}/vlan.pcap"]
    assert Lake.open(f"file:{tmp_path}/lake").root == lake.root


def test_nothing_of_a_store_is_loaded_for_local_files() -> None:
    code = (
        "import sys; from conformance.capture import read_capture; from conformance.captures import replay_captures;"
        f"from conformance.capture.inputs import expand; names = expand(['{CAPTURES}/vlan.pcap']);"
        "print(len(list(read_capture(*names))) > 1, "
        "sorted(sys.modules.keys() & {'fsspec', 's3fs', 'conformance.capture.stores', 'conformance.capture.spool'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert done.stdout == "True []\n"


def test_a_large_stream_in_a_bucket_has_the_verdicts_of_its_file(tmp_path: Path) -> None:
    """Its connections are judged by one core: no part has the bytes of the others."""
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 600, pairs=4, deviating=0.4)
    upload("captures", {"large/sessions.pcap": capture})
    local, wanted = put(tmp_path / "local", [capture])
    lake, done = put(tmp_path / "lake", [f"{BUCKET}/large"], parts=2)
    assert said(lake) == said(local) and done.outcomes == wanted.outcomes
