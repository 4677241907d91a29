"""Files: atomic writes, bounded reads, the user's cache, temporary folders, and what ships with the code."""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from conformance.interrupts import work_begins


def make_folder(path: Path | str, *, above: bool = True) -> None:
    """Make a folder and all missing folders above it, however many; `above` allows these. Raises OSError.

    `Path.mkdir` and `os.makedirs` recurse at each level and raise RecursionError below a thousand levels.
    """
    missing = [os.fspath(path)]
    made = ""
    while missing:
        try:
            os.mkdir(missing[-1])  # noqa: PTH102 - a Path is slow to make at each of many levels
        except FileNotFoundError:
            parent = os.path.dirname(missing[-1].rstrip(os.sep))  # noqa: PTH120
            if not parent or parent in (missing[-1], made) or not above:  # the latter happens in procfs
                raise
            missing.append(parent)
            continue
        except OSError:  # As with `exist_ok`: any error is fine if the folder exists.
            if not os.path.isdir(missing[-1]):  # noqa: PTH112
                raise
        made = missing.pop()


@contextmanager
def folder_watch(folder: Path) -> Iterator[Callable[[], bool]]:
    """Keep a folder open; the yielded function returns True while the folder is still at its path. Raises OSError.

    As the folder stays open, a new folder at the same path cannot be mistaken for it.
    """
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def there() -> bool:
        try:
            return os.path.samestat(os.fstat(number), folder.stat())
        except OSError:
            return False

    try:
        yield there
    finally:
        os.close(number)


@contextmanager
def aside(path: Path | str) -> Iterator[Path]:
    """Yield a draft to write, which replaces `path` at the end. Raises OSError.

    Any error or interrupt leaves `path` unchanged and removes the draft. An existing file keeps its mode. If `path` is
    a link, its target is replaced. If it is not a regular file (`/dev/stdout`, a pipe), it is written directly.
    """
    work_begins()
    place = Path(os.path.realpath(path))
    try:
        mode = place.stat().st_mode & 0o7777 if place.is_file() else None
    except OSError:
        mode = None
    if mode is None and os.path.lexists(place):
        if place.is_dir():
            raise IsADirectoryError(21, "Is a directory", str(path))
        yield Path(path)
        return
    draft = place.with_name(f".{secrets.token_hex(8)}.part")
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        yield draft
        if mode is not None:
            draft.chmod(mode)
        draft.replace(place)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def write_text(path: Path | str, text: str, *, encoding: str = "utf-8", errors: str = "strict") -> None:
    """Write a text file atomically. Raises OSError."""
    with aside(path) as draft:
        draft.write_text(text, encoding=encoding, errors=errors)


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write a file atomically. Raises OSError."""
    with aside(path) as draft:
        draft.write_bytes(content)


MAX_DIGITS = 308
"""Digits of the longest number: one with more is no float."""
MAX_DOTS = 32
"""Dots of the longest TOML key: what tomllib needs for one grows with their square."""
_STRINGS = re.compile(
    r'"{3}(?:[^"\\]|\\.|"(?!""))*+"{0,5}|\'{3}(?:[^\']|\'(?!\'\'))*+\'{0,5}|"(?:[^"\\\n]|\\.)*+"?|\'[^\'\n]*+\'?|#[^\n]*',
    re.DOTALL,
)
_NUMBER = re.compile(rf"[0-9_]{{{MAX_DIGITS + 1},}}")
_KEY = re.compile(rf"(?:\.[^.\n=]*+){{{MAX_DOTS + 1},}}")


class UnfitError(ValueError):
    """A file is nothing that this program wrote; the text says why and follows the file's name."""


def text_of(path: Path, most: int) -> str:
    """Return the text of a file of at most `most` bytes. Raises OSError and UnfitError."""
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UnfitError("is not a file")
        data = file.read(most + 1)
    if len(data) > most:
        raise UnfitError(f"is larger than {most >> 20} MiB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UnfitError("is not UTF-8 text") from None


def _without_waiting(name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NONBLOCK)  # a FIFO without a writer opens at once


def json_value(text: str) -> Any:
    """Parse JSON. Raises UnfitError."""
    try:
        return json.loads(text)
    except RecursionError:
        raise UnfitError("is nested too deeply") from None
    except ValueError:  # Also for an integer with more digits than Python converts.
        raise UnfitError("is not JSON") from None


def toml_table(text: str) -> dict[str, Any]:
    """Parse TOML. Raises UnfitError."""
    bare = _STRINGS.sub("", text)  # keys, numbers and brackets alone
    if _NUMBER.search(bare):
        raise UnfitError(f"has a number of more than {MAX_DIGITS} digits")
    if _KEY.search(bare):
        raise UnfitError(f"has a key of more than {MAX_DOTS} dots")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UnfitError("is nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError among them
        raise UnfitError(f"is not valid TOML: {str(error)[:200]}") from None


MAX_FILE: Final = 256 << 20
"""Bytes of the largest file that is read."""
_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_TOLD: Final = "_MQCONFORM_CACHE_UNUSED"
"""Environment variable with the cache folder that was reported already, so that child processes do not repeat it."""
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_CHECKED: Final = os.name == "posix"
"""On other systems a user's folders are private by default and have no mode to check."""


class _ForeignError(Exception):
    """Somebody else may have written a file; the message is the end of a sentence."""


def cache_folder() -> Path:
    """Return the cache folder. Raises OSError if there is no home folder."""
    if sys.platform == "linux" and "ANDROID_ROOT" not in os.environ:
        # The same as platformdirs, which takes as long to import as the catalogue takes to load.
        for name, below in (("XDG_CACHE_HOME", ""), ("HOME", ".cache")):
            if (base := Path(os.environ.get(name, ""))).is_absolute():
                return base / below / "mqconform"
    from platformdirs import user_cache_path

    try:
        return user_cache_path("mqconform", appauthor=False)
    except RuntimeError as error:
        raise OSError(str(error)) from None


def read_cached(root: Path, name: str) -> bytes | None:
    """Read a file of the cache at `root`; None if it is missing or not surely ours. name: its path below `root`."""
    try:
        if not _CHECKED:
            return (root / name).read_bytes()
        with _opened(root, name) as (place, own):
            number = os.open(own, _FLAGS | os.O_NONBLOCK, dir_fd=place)
            with os.fdopen(number, "rb") as file:
                status = os.fstat(number)
                if not stat.S_ISREG(status.st_mode):
                    return None
                _check(status, root / name)
                return file.read(MAX_FILE) if status.st_size < MAX_FILE else None
    except _ForeignError as problem:
        _tell(root, problem)
    except OSError:
        pass
    return None


def write_cached(root: Path, name: str, content: bytes) -> bool:
    """Write a file atomically. Returns True if it is written. Missing folders are made, private to the user."""
    try:
        if not _CHECKED:
            return _plainly(root / name, content)
        with _opened(root, name, make=True) as (place, own):
            draft = f".{own}.{os.urandom(8).hex()}"
            try:
                number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=place)
                with os.fdopen(number, "wb") as file:
                    file.write(content)
                os.replace(draft, own, src_dir_fd=place, dst_dir_fd=place)
            except OSError:
                with suppress(OSError):
                    os.unlink(draft, dir_fd=place)
                return False
            return True
    except _ForeignError as problem:
        _tell(root, problem)
    except OSError:
        pass
    return False


@contextmanager
def _opened(root: Path, name: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """Open and check the folder of a file; yields its descriptor and the file's name in it. make: missing folders."""
    *inner, own = name.split("/")
    base = root.parent
    if make:
        base.mkdir(0o700, parents=True, exist_ok=True)
    mode = base.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise _ForeignError(f"everybody may write to {base}, where it lies")
    path, at = root, _enter(root, None, make)
    try:
        for one in inner:
            path /= one
            before, at = at, _enter(path, at, make)
            os.close(before)
        yield at, own
    finally:
        os.close(at)


def _enter(path: Path, above: int | None, make: bool) -> int:
    """Open one of our folders and check it. make: it is made if missing, and made private to the user."""
    name = path if above is None else path.name
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=above)
    try:
        number = os.open(name, _FLAGS | os.O_DIRECTORY, dir_fd=above)
    except OSError:
        if path.is_symlink():
            raise _ForeignError(f"{path} is a link") from None
        raise
    try:
        status = os.fstat(number)
        _check(status, path)
        if make and stat.S_IMODE(status.st_mode) != 0o700:
            os.fchmod(number, 0o700)
    except BaseException:
        os.close(number)
        raise
    return number


def _check(status: os.stat_result, path: Path) -> None:
    if status.st_uid != os.geteuid():
        raise _ForeignError(f"{path} belongs to another user (number {status.st_uid})")
    if status.st_mode & _OTHERS:
        raise _ForeignError(f"others may write to {path} (mode {stat.S_IMODE(status.st_mode):04o})")


def _tell(root: Path, problem: Exception) -> None:
    if os.environ.get(_TOLD) == str(root):
        return
    os.environ[_TOLD] = str(root)
    with suppress(OSError, ValueError, AttributeError):
        print(
            f"mqconform: the cache in {root} is not used: {problem}; remove it, or close it to others (chmod 700).",
            file=sys.stderr,
            flush=True,
        )


def _plainly(path: Path, content: bytes) -> bool:
    import tempfile

    path.parent.mkdir(parents=True, exist_ok=True)
    number, draft = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        Path(draft).replace(path)
    except OSError:
        with suppress(OSError):
            Path(draft).unlink()
        raise
    return True


LIMIT_S = 60.0
"""Seconds after which removal gives up on a folder that another process keeps filling."""
_MOUNTS = Path("/proc/self/mountinfo")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

GONE = "The working folder is gone: change to a folder that exists, and run the command again."


def working_folder_gone() -> bool:
    """True if the working folder of this process was removed."""
    try:
        return not os.path.isdir(os.getcwd())  # noqa: PTH109, PTH112
    except OSError:
        return True


class NoScratch(OSError):
    """No temporary folder can be made; the message is one sentence."""


def new_scratch(prefix: str) -> Path:
    """Make a temporary folder named `prefix` and random letters. The caller removes it. Raises NoScratch."""
    work_begins()
    try:
        return Path(tempfile.mkdtemp(prefix=prefix))
    except OSError as error:
        reason = error.strerror or str(error)
        raise NoScratch(
            error.errno, f"No temporary folder can be made ({reason}): set TMPDIR to a folder that can be written."
        ) from None


@contextmanager
def scratch(prefix: str) -> Iterator[Path]:
    """Make a temporary folder and remove it with its content at the end. Raises NoScratch."""
    folder = new_scratch(prefix)
    try:
        yield folder
    finally:
        remove_tree(folder)


def remove_tree(folder: Path) -> bool:
    """Remove a folder and its content, however deep. Returns False if something could not be removed.

    Inner folders are moved up into `folder` before they are emptied, so neither depth nor path length costs memory or
    descriptors. Symbolic links are not followed. What holds a mount stays: its files are somebody else's.
    """
    mounted = _mounted(folder)
    try:
        top = os.open(folder, _FOLDER)
    except OSError:
        return not os.path.lexists(folder)
    try:
        until = time.monotonic() + LIMIT_S
        while _sweep(top, until, mounted):
            pass
    finally:
        os.close(top)
    with suppress(OSError):
        folder.rmdir()
    return not os.path.lexists(folder)


def _mounted(folder: Path) -> frozenset[str]:
    """Return the names of a folder's entries on or in which something is mounted; None are known without /proc."""
    top = f"{os.path.realpath(folder)}/"
    with suppress(OSError), _MOUNTS.open(encoding="utf-8", errors="surrogateescape") as rows:
        places = [re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), row.split(" ")[4]) for row in rows]
        return frozenset(place[len(top) :].partition("/")[0] for place in places if place.startswith(top))
    return frozenset()


def _sweep(top: int, until: float, mounted: Collection[str] = ()) -> bool:
    """Remove or empty every entry of `top` once. Returns True if inner folders were moved up into `top`."""
    moved = False
    for name in _names(top):
        if name in mounted:
            continue
        if time.monotonic() > until:
            return False
        if _removed(name, top):
            continue
        with suppress(OSError):
            inner = os.open(name, _FOLDER, dir_fd=top)
            try:
                moved |= _lift(inner, top)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)
    return moved


def _lift(inner: int, top: int) -> bool:
    """Remove the files of a folder and move its folders up into `top`. Returns True if there were any folders."""
    lifted = False
    os.fchmod(inner, stat.S_IRWXU)  # A folder that its owner may not write to cannot be emptied.
    for number, name in enumerate(_names(inner)):
        if not _removed(name, inner):
            with suppress(OSError):
                os.rename(name, f".{time.monotonic_ns():x}-{number}", src_dir_fd=inner, dst_dir_fd=top)
                lifted = True
    return lifted


def _names(folder: int) -> Iterator[str]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            yield entry.name


def _removed(name: str, folder: int) -> bool:
    """Try to remove a file, a link or an empty folder. Returns True if it is removed."""
    for remove in (os.unlink, os.rmdir):
        with suppress(OSError):
            remove(name, dir_fd=folder)
            return True
    return False


_PACKAGE = Path(__file__).parent


def resource(name: str) -> Path:
    """Return the path of `fixtures/...` or `grammars/...`: in the installed package, else beside it in a checkout.

    Raises FileNotFoundError for a name that is in neither.
    """
    for base in (_PACKAGE / "_data", _PACKAGE.parent):
        path = base / name
        if path.exists():
            return path
    raise FileNotFoundError(f"{name} is neither in the installed package nor in a checkout: reinstall mqconform")
