"""Addresses of captures: the paths and the places in stores that a name can mean, as Hadoop and others write them."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from conformance.capture.events import CaptureError

STDIN = "-"
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(.*)", re.DOTALL)
_FILE = re.compile(r"file:(?://(?P<host>[^/]*))?(?P<path>/.*)", re.DOTALL | re.IGNORECASE)
_DBFS = re.compile(r"dbfs:/+(?P<path>.*)", re.DOTALL | re.IGNORECASE)
_ONE_SLASH = re.compile(r"([A-Za-z][A-Za-z0-9+]+):/(?!/)", re.DOTALL)
_PASSWORD = re.compile(r"[^/@:]*:[^/@]*@")


@dataclass(frozen=True, slots=True)
class Store:
    """A kind of store. protocol: its name in fsspec. package: what reads it. install: how to get that with pip.

    flat: it has no folders, and lists all names below a prefix at once.
    """

    protocol: str
    package: str
    install: str
    flat: bool = True


_S3 = Store("s3", "s3fs", "'mqconform[lake]'")
_AZURE = Store("abfss", "adlfs", "'mqconform[lake]' adlfs")
_GOOGLE = Store("gs", "gcsfs", "'mqconform[lake]' gcsfs")
_HADOOP = Store("hdfs", "pyarrow", "'mqconform[lake]' pyarrow", flat=False)
STORES: Final[Mapping[str, Store]] = {
    "s3": _S3,
    "s3a": _S3,
    "s3n": _S3,
    "abfs": _AZURE,
    "abfss": _AZURE,
    "gs": _GOOGLE,
    "gcs": _GOOGLE,
    "hdfs": _HADOOP,
}
"""The schemes that are known, as Hadoop and the stores' own tools write them."""


def scheme_of(name: str) -> str | None:
    """Return the scheme of an address in a store, in lower case; None for a path."""
    found = _ADDRESS.match(name)
    return found[1].lower() if found is not None and found[1].lower() not in ("file", "dbfs") else None


def is_stored(name: str) -> bool:
    """Tell whether a name is an address in a store."""
    return scheme_of(name) is not None


def location(name: str) -> str:
    """Return the path or the address that a name means. Raises CaptureError for one that can mean neither."""
    if (found := _FILE.fullmatch(name)) is not None:
        if found["host"] not in (None, "", "localhost"):
            raise CaptureError(f"{name} is a file of another machine, {found['host']}; give a path of this one.")
        return unquote(found["path"], errors="surrogateescape")
    if (found := _DBFS.fullmatch(name)) is not None:
        path = found["path"]
        path = f"/{path}" if path.startswith("Volumes/") else f"/dbfs/{path}"
        raise CaptureError(
            f"{name} is written as Spark of Databricks writes it; on its machines the same file is the path {path}."
        )
    scheme = scheme_of(name)
    if scheme is None:
        found = _ONE_SLASH.match(name)
        if found is not None and found[1].lower() in STORES:
            raise CaptureError(f"{name} has one slash after {found[1]}:, an address has two: {found[1]}://...")
        return name
    if not _is_known(scheme):
        known = ", ".join(f"{one}://" for one in ("s3", "abfss", "gs", "hdfs"))
        raise CaptureError(f"No captures can be read from {scheme}://; give a path, or an address of {known}.")
    rest = name.partition("://")[2]
    if _PASSWORD.match(rest):
        raise CaptureError(
            f"An address of {scheme}:// holds a password, which would be stored with the verdicts; give credentials in"
            " the environment."
        )
    if not rest.strip("/"):
        raise CaptureError(f"{name} names no place in the store; give {scheme}://PLACE/FOLDER.")
    return name


def path_of(name: str) -> str:
    """Return the path that `file:/...` means, and any other name as it is."""
    found = _FILE.fullmatch(name)
    return unquote(found["path"], errors="surrogateescape") if found is not None else name


def _is_known(scheme: str) -> bool:
    """Tell whether a scheme is one of `STORES`, or one that the present process has registered with fsspec."""
    registry = sys.modules.get("fsspec.registry")
    return scheme in STORES or (registry is not None and scheme in registry.registry)
