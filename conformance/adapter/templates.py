"""`mqconform adapter new`: writes driver templates, copied from `adapters/`."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from conformance.adapter.errors import AdapterError, ConnectorError
from conformance.files import aside, make_folder, resource
from conformance.suggest import nearest


class TemplateError(AdapterError):
    """There is no template of this name, or the folder cannot be written: a mistake of the user (exit code 2)."""


@dataclass(frozen=True, slots=True)
class Template:
    """A driver to start from. words: other names of the language. programs: any of these runs or compiles it.

    shared: files in common with another driver. build: the command that compiles it, empty for none. start: the command
    that starts it. driver: the file that is there when it can be started.
    """

    words: tuple[str, ...]
    programs: tuple[str, ...]
    package: str
    build: tuple[str, ...]
    start: tuple[str, ...]
    driver: str
    shared: tuple[str, ...] = ()


TEMPLATES = {
    "python": Template(("py", "python3"), ("python3",), "python3", (), ("python3", "{folder}/driver.py"), "driver.py"),
    "node": Template(
        ("js", "javascript", "nodejs", "node.js", "typescript"),
        ("node",),
        "nodejs",
        (),
        ("node", "{folder}/driver.js"),
        "driver.js",
    ),
    "csharp": Template(
        ("c#", "cs", "dotnet", ".net", "mono"),
        ("mcs", "csc"),
        "mono-mcs",
        ("mcs", "-out:{folder}/driver.exe", "{folder}/*.cs"),
        ("mono", "{folder}/driver.exe"),
        "driver.exe",
        ("shared/Json.cs",),
    ),
    "go": Template(
        ("golang",),
        ("go",),
        "golang-go",
        ("go", "build", "-o", "{folder}/driver", "{folder}/*.go"),
        ("{folder}/driver",),
        "driver",
    ),
    "java": Template(
        ("jdk", "jvm", "kotlin"),
        ("javac",),
        "default-jdk-headless",
        ("javac", "-d", "{folder}", "{folder}/*.java"),
        ("java", "-cp", "{folder}", "Driver"),
        "Driver.class",
    ),
    "rust": Template(
        ("rs", "rustc", "cargo"),
        ("rustc",),
        "rustc",
        ("rustc", "--edition", "2021", "-O", "-o", "{folder}/driver", "{folder}/driver.rs"),
        ("{folder}/driver",),
        "driver",
    ),
    "c": Template(
        ("gcc", "clang", "c99", "c11", "c++"),
        ("cc",),
        "gcc libc6-dev",
        ("cc", "-std=c11", "-O2", "-pthread", "-o", "{folder}/driver", "{folder}/*.c"),
        ("{folder}/driver",),
        "driver",
    ),
}


_SUFFIXES = (".py", ".js", ".cs", ".go", ".java", ".rs", ".c", ".h", ".md")


@dataclass(frozen=True, slots=True)
class Written:
    """A written template. next: the commands that try it. missing: a message if its language is not installed."""

    files: tuple[Path, ...]
    next: str
    missing: str | None


def write_template(language: str, folder: Path) -> Written:
    """Copy the template of a language into a folder, made if missing. Raises TemplateError."""
    template = TEMPLATES.get(language.lower())
    if template is None:
        raise TemplateError(_unknown(language))
    source = resource(f"adapters/{language.lower()}")
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            what = "is not empty" if folder.is_dir() else "is not a folder"
            raise TemplateError(f"{folder} {what}, and nothing is overwritten: name a new folder.")
        make_folder(folder)
        sources = [file for file in source.iterdir() if file.suffix in _SUFFIXES]
        sources += [resource(f"adapters/{shared}") for shared in template.shared]
        files = tuple(_copied(file, folder / file.name) for file in sorted(sources, key=_name))
    except OSError as wrong:
        raise TemplateError(f"{folder} can't be written ({wrong.strerror}): name another folder.") from None
    return Written(files, _next(template, folder), _missing(template))


def start_of(command: list[str]) -> list[str]:
    """Return the command; if its program is the folder of a template, the command that starts the driver in it.

    Raises ConnectorError for a driver that is not compiled.
    """
    folder = Path(command[0])
    if not folder.is_dir() or shutil.which(command[0]) is not None:
        return command
    for template in TEMPLATES.values():
        if (folder / template.driver).is_file():
            return [*(word.replace("{folder}", str(folder)) for word in template.start), *command[1:]]
    for template in TEMPLATES.values():
        sources = {word.removeprefix("{folder}/") for word in template.build if word.startswith("{folder}/")}
        if any(next(folder.glob(pattern), None) for pattern in sources):
            raise ConnectorError(
                f"the driver in the folder {folder} is not compiled yet: {_command(template.build, folder)}"
            )
    return command


def _copied(file: Path, to: Path) -> Path:
    with aside(to) as draft:
        shutil.copyfile(file, draft)
    return to


def _name(file: Path) -> str:
    return file.name.lower()


def _unknown(language: str) -> str:
    words = {word: name for name, template in TEMPLATES.items() for word in (name, *template.words)}
    close = nearest(language, words)
    meant = f"; did you mean {words[close]}?" if close else "."
    return f"There is no template in {language!r}{meant} Templates: {', '.join(TEMPLATES)}."


def _next(template: Template, folder: Path) -> str:
    check = f"mqconform adapter check {shlex.quote(f'stdio:{_command(template.start, folder)}')}"
    return f"{_command(template.build, folder)} && {check}" if template.build else check


def _command(words: tuple[str, ...], folder: Path) -> str:
    # The shell must expand the pattern of the compiler's files, but not the folder before it.
    return " ".join(word.replace("{folder}", shlex.quote(str(folder))) for word in words)


def _missing(template: Template) -> str | None:
    if any(map(shutil.which, template.programs)):
        return None
    programs = " or ".join(template.programs)
    return f"{programs} is not installed here, and this driver needs it: sudo apt-get install {template.package}"
