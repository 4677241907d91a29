"""`mqconform adapter new`: driver templates, copied out of `adapters/`."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from conformance.adapter.errors import AdapterError
from conformance.resources import resource


class TemplateError(AdapterError):
    """No template of that name, or no folder to write it to: the user's mistake (exit code 2)."""


@dataclass(frozen=True, slots=True)
class Template:
    """A driver to start from. words: what else people call the language. programs: any of these runs or compiles it.

    shared: files it has in common with another driver. build: the command that compiles it, empty for none. start: the
    command that starts it, with the driver's file last.
    """

    words: tuple[str, ...]
    programs: tuple[str, ...]
    package: str
    build: tuple[str, ...]
    start: tuple[str, ...]
    shared: tuple[str, ...] = ()


TEMPLATES = {
    "python": Template(("py", "python3"), ("python3",), "python3", (), ("python3", "driver.py")),
    "node": Template(
        ("js", "javascript", "nodejs", "node.js", "typescript"), ("node",), "nodejs", (), ("node", "driver.js")
    ),
    "csharp": Template(
        ("c#", "cs", "dotnet", ".net", "mono"),
        ("mcs", "csc"),
        "mono-mcs",
        ("mcs", "-out:{folder}/driver.exe", "{folder}/*.cs"),
        ("mono", "driver.exe"),
        ("dotnet/Json.cs",),
    ),
}


@dataclass(frozen=True, slots=True)
class Written:
    """What was written. next: the commands that try it. missing: a sentence when its language is not installed."""

    files: tuple[Path, ...]
    next: str
    missing: str | None


def write_template(language: str, folder: Path) -> Written:
    """Copy the template of a language into a folder, which is made. Raises TemplateError."""
    template = TEMPLATES.get(language.lower())
    if template is None:
        raise TemplateError(_unknown(language))
    source = resource(f"adapters/{language.lower()}")
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            what = "is not empty" if folder.is_dir() else "is no folder"
            raise TemplateError(f"{folder} {what}, and nothing is written over: name a new folder.")
        folder.mkdir(parents=True, exist_ok=True)
        sources = [file for file in source.iterdir() if file.suffix in (".py", ".js", ".cs", ".md")]
        sources += [resource(f"adapters/{shared}") for shared in template.shared]
        files = tuple(Path(shutil.copyfile(file, folder / file.name)) for file in sorted(sources, key=_name))
    except OSError as wrong:
        raise TemplateError(f"{folder} can't be written ({wrong.strerror}): name another folder.") from None
    return Written(files, _next(template, folder), _missing(template))


def _name(file: Path) -> str:
    return file.name.lower()


def _unknown(language: str) -> str:
    words = {word: name for name, template in TEMPLATES.items() for word in (name, *template.words)}
    close = get_close_matches(language.lower(), list(words), n=1, cutoff=0.6)
    meant = f"; did you mean {words[close[0]]}?" if close else "."
    return f"There is no template in {language!r}{meant} Templates: {', '.join(TEMPLATES)}."


def _next(template: Template, folder: Path) -> str:
    program, file = template.start
    check = f"mqconform adapter check {shlex.quote(f'stdio:{program} {shlex.quote(str(folder / file))}')}"
    # The pattern of the compiler's files is for the shell, and the folder before it is not.
    build = " ".join(word.replace("{folder}", shlex.quote(str(folder))) for word in template.build)
    return f"{build} && {check}" if build else check


def _missing(template: Template) -> str | None:
    if any(map(shutil.which, template.programs)):
        return None
    programs = " or ".join(template.programs)
    return f"{programs} is not installed here, and this driver needs it: sudo apt-get install {template.package}"
