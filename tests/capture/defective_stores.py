"""File systems with a defect each, by which they are named, for the names `DEFECT://bucket/...`."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec import AbstractFileSystem
from fsspec.spec import AbstractBufferedFile

from conformance.capture import files

Objects = dict[str, bytes]


class Sound(AbstractFileSystem):
    """A store without a defect. objects: by path. reads: ranges that were asked for so far, over all objects."""

    protocol = "sound"
    cachable = False
    objects: ClassVar[Objects] = {}
    writes: ClassVar[dict[str, int]] = {}
    reads: ClassVar[list[tuple[str, int, int]]] = []
    tagged: ClassVar[bool] = True

    @classmethod
    def put(cls, path: str, data: bytes) -> None:
        """Write an object; its tag changes."""
        cls.objects[path] = data
        cls.writes[path] = cls.writes.get(path, 0) + 1

    def info(self, path: str, **more: Any) -> dict[str, Any]:
        path = self._strip_protocol(path)
        if path not in self.objects:
            if any(one.startswith(f"{path}/") for one in self.objects):
                return {"name": path, "size": 0, "type": "directory"}
            raise FileNotFoundError(path)
        version = {"ETag": f'"{self.writes[path]}"'} if self.tagged else {"mtime": 1.0 * self.writes[path]}
        return {"name": path, "size": len(self.objects[path]), "type": "file", **version}

    def ls(self, path: str, detail: bool = True, **more: Any) -> list[Any]:
        path = self._strip_protocol(path)
        below = sorted({self._child(path, one) for one in self.listed() if one.startswith(f"{path}/")})
        found = [self._listing(one) for one in below]
        return found if detail else [one["name"] for one in found]

    def listed(self) -> Iterator[str]:
        """The objects as they are listed."""
        return iter(self.objects)

    def serve(self, path: str, start: int, stop: int) -> bytes:
        """The bytes of a range."""
        if path not in self.objects:
            raise FileNotFoundError(path)
        return self.objects[path][start:stop]

    def _listing(self, path: str) -> dict[str, Any]:
        return Sound.info(self, path) if path in self.objects else {"name": path, "size": 0, "type": "directory"}

    @staticmethod
    def _child(path: str, one: str) -> str:
        return f"{path}/{one[len(path) + 1 :].split('/')[0]}"

    def _open(self, path: str, mode: str = "rb", **more: Any) -> AbstractBufferedFile:
        return _Object(self, path, mode, **{name: more[name] for name in ("block_size", "cache_type") if name in more})


class _Object(AbstractBufferedFile):
    def _fetch_range(self, start: int, end: int) -> bytes:
        self.fs.reads.append((self.path, start, end))
        return self.fs.serve(self.path, start, end)


class ShortReads(Sound):
    """Returns fewer bytes than it was asked for."""

    protocol = "shortreads"

    def serve(self, path: str, start: int, stop: int) -> bytes:
        return super().serve(path, start, min(stop, start + 1000))


class Trickles(Sound):
    """Returns one byte at a time."""

    protocol = "trickles"

    def serve(self, path: str, start: int, stop: int) -> bytes:
        return super().serve(path, start, start + 1)


class Throttles(Sound):
    """Refuses every other request, whatever it is."""

    protocol = "throttles"
    asked: ClassVar[list[int]] = [0]

    def info(self, path: str, **more: Any) -> dict[str, Any]:
        self._throttle()
        return super().info(path, **more)

    def serve(self, path: str, start: int, stop: int) -> bytes:
        self._throttle()
        return super().serve(path, start, stop)

    def _throttle(self) -> None:
        self.asked[0] += 1
        if self.asked[0] % 2:
            raise OSError(errno.EBUSY, "Please reduce your request rate.")


class TimesOut(Sound):
    """Answers every other read too late, with an error that is no OSError."""

    protocol = "timesout"

    def serve(self, path: str, start: int, stop: int) -> bytes:
        if len(self.reads) % 2:
            raise Late("the read timed out")
        return super().serve(path, start, stop)


class Late(Exception):
    """A package's own error."""


class Fails(Sound):
    """Gives no bytes any more of objects whose name has `bad`, after some reads of them."""

    protocol = "fails"
    after: ClassVar[int] = 0

    def serve(self, path: str, start: int, stop: int) -> bytes:
        if sum("bad" in one for one, _, _ in self.reads) > self.after and "bad" in path:
            raise OSError(errno.EBUSY, "SlowDown")
        return super().serve(path, start, stop)


class Silent(Sound):
    """Returns no bytes, without an error."""

    protocol = "silent"

    def serve(self, path: str, start: int, stop: int) -> bytes:
        return b""


class IgnoresRanges(Sound):
    """Returns the whole object, whatever it was asked for."""

    protocol = "ignoresranges"

    def serve(self, path: str, start: int, stop: int) -> bytes:
        return self.objects[path]


class Changes(Sound):
    """Objects whose name has `bad` get another content of the same size after some reads of them, once."""

    protocol = "changes"
    after: ClassVar[int] = 0

    def serve(self, path: str, start: int, stop: int) -> bytes:
        if "bad" in path and self.writes[path] == 1 and sum(one == path for one, _, _ in self.reads) > self.after:
            self.put(path, self.objects[path][:24] + self.objects[path][24:][::-1])
        return super().serve(path, start, stop)


class ChangesWithoutTags(Changes):
    """The same, in a store that knows times alone."""

    protocol = "changeswithouttags"
    tagged = False


class Vanishes(Sound):
    """Objects whose name has `bad` are deleted after some reads of them."""

    protocol = "vanishes"
    after: ClassVar[int] = 0

    def serve(self, path: str, start: int, stop: int) -> bytes:
        if "bad" in path and sum(one == path for one, _, _ in self.reads) > self.after:
            self.objects.pop(path, None)
        return super().serve(path, start, stop)


class ListsLate(Sound):
    """Does not list the newest object yet."""

    protocol = "listslate"

    def listed(self) -> Iterator[str]:
        return iter(list(self.objects)[:-1])


class ListsTheDeleted(Sound):
    """Still lists an object that was deleted."""

    protocol = "liststhedeleted"

    def listed(self) -> Iterator[str]:
        return iter([*self.objects, "bucket/deleted.pcap"])

    def _listing(self, path: str) -> dict[str, Any]:
        return {"name": path, "size": 9, "type": "file", "ETag": "old"}


class RefusesAccess(Sound):
    """Lists its objects, and lets nobody read them."""

    protocol = "refusesaccess"

    def serve(self, path: str, start: int, stop: int) -> bytes:
        raise PermissionError("Access Denied")


@contextmanager
def store(kind: type[Sound], objects: Mapping[str, bytes], **settings: Any) -> Iterator[str]:
    """Register a store that holds these objects; gives the address of its one bucket. Nobody waits for it."""
    waits: Callable[[float], object] = lambda seconds: None  # noqa: E731
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "patience", files.Patience(wait=waits))
        for name, value in {"objects": {}, "writes": {}, "reads": [], **settings}.items():
            patch.setattr(kind, name, value, raising=False)
        for name, data in objects.items():
            kind.put(f"bucket/{name}", data)
        fsspec.register_implementation(kind.protocol, kind, clobber=True)
        yield f"{kind.protocol}://bucket"
