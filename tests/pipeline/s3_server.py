"""An S3 server on loopback, in a process of its own, for tests: nothing of it is left when they end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

_SERVE = """
import sys
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=len(sys.argv) > 1)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


def need_s3() -> None:
    """Skip where moto or s3fs is not installed; with CI=true that is a failure."""
    missing = [name for name in ("moto", "flask", "s3fs") if find_spec(name) is None]
    if missing and os.environ.get("CI") == "true":
        pytest.fail(f"{', '.join(missing)} must be installed")
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")


@contextmanager
def served(log: Path | None = None) -> Iterator[Mapping[str, str]]:
    """Run a server; gives the environment that makes every client ask it, with faked credentials.

    log: gets a line for each request.
    """
    told = subprocess.DEVNULL if log is None else log.open("wb")
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE, *(["log"] if log is not None else [])],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, b"")  # It may tell first that it starts.
        port = next((one.decode().strip() for one in lines if one.strip().isdigit()), "")
        assert port, "the server did not start"
        yield {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }
    finally:
        process.kill()
        process.communicate()
        if not isinstance(told, int):
            told.close()


def upload(bucket: str, files: Mapping[str, Path]) -> None:
    """Make a bucket with these files, by key."""
    import s3fs

    system = s3fs.S3FileSystem(use_listings_cache=False)
    system.makedirs(bucket, exist_ok=True)
    for key, path in files.items():
        system.pipe_file(f"{bucket}/{key}", path.read_bytes())


@contextmanager
def asked(server: Mapping[str, str]) -> Iterator[None]:
    """Make clients of this process ask a server."""
    import s3fs

    with pytest.MonkeyPatch.context() as patch:
        for name, value in server.items():
            patch.setenv(name, value)
        # Clients are kept by their arguments: one that an earlier test made asks a server that has ended.
        s3fs.S3FileSystem.clear_instance_cache()
        yield
    s3fs.S3FileSystem.clear_instance_cache()
