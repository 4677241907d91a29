"""Builds the site: the pages of the checkout, and a page of the package's functions from their docstrings.

    python -m tools.site FOLDER

The site loads nothing from elsewhere. A link that leads nowhere, a heading that is not there or a page that no menu
names ends the build.
"""

from __future__ import annotations

import inspect
import logging
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, get_type_hints

import conformance
from conformance.run import run
from conformance.run_options import RunRequest

ROOT: Final = Path(__file__).parents[1]
API: Final = "docs/api.md"
MENU: Final = {
    "Judge an implementation": ["write-a-driver", "adapter-protocol", "directory-ldap", "report", "quirks", "diagnose",
                                "situations", "soak", "readings", "readings-followed", "learn", "judge",
                                "drivers-do-not-repair"],
    "In continuous integration": ["ci", "formats", "compatibility"],
    "Over the network": ["wire", "serve", "clients"],
    "Captures": ["replay", "captures", "wireshark"],
    "Many captures": ["pipeline", "lake", "lake-columns", "corpus-report", "scale"],
    "From Python": ["python", "api"],
    "What is checked": ["what-is-checked", "model", "spec-findings", "glossary"],
    "Changing mqconform": ["contributing"],
}  # fmt: skip
"""The pages of `docs/` by heading."""
TOP: Final = {
    "Changing mqconform": ["CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", "fixtures/old/0.1/README.md"],
    "Judge an implementation": [
        "adapters/dotnet/README.md",
        "adapters/activex/README.md",
        "adapters/mqrt/driver/README.md",
    ],
}
"""Pages elsewhere in the checkout, by heading."""
_LINK: Final = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
_FENCE: Final = re.compile(r"^```(\w+) (\S[^\n]*)")
_ITEM: Final = re.compile(r"(?:[-*]|\d+\.) ")


def pages() -> list[str]:
    """Return the places of all pages in the checkout."""
    found = ["README.md", *(f"docs/{name}.md" for names in MENU.values() for name in names)]
    return [place for place in [*found, *(place for places in TOP.values() for place in places)] if place != API]


def stage(folder: Path) -> None:
    """Copy the pages and the files that they link to into a folder, where they have the same places."""
    for place in pages():
        text = (ROOT / place).read_text(encoding="utf-8")
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("".join(_spaced(text)), encoding="utf-8")
        for link in _LINK.findall(text):
            file = (ROOT / place).parent / link
            if "://" not in link and file.is_file() and file.suffix != ".md":
                copy = (target.parent / link).resolve()
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
    (folder / API).write_text(api(), encoding="utf-8")


def _spaced(text: str) -> Iterator[str]:
    """Yield the lines as Python's Markdown wants them: an empty one before a list, and the title of code as such."""
    code, before = False, ""
    for line in text.splitlines(keepends=True):
        if line.startswith("```"):
            code = not code
            line = _FENCE.sub(r'```\1 title="\2"', line)
        elif not code and _ITEM.match(line) and before.strip() and not _ITEM.match(before) and before[:1] != " ":
            yield "\n"
        before = line
        yield line


def api() -> str:
    """Return the page of the functions and types of the package."""
    parts = ["# The functions and types of the package", "[How they are used](python.md) is another page."]
    for name in vars(conformance)["__all__"]:
        found = getattr(conformance, name)
        if not name.startswith("_"):
            found = getattr(found, name) if inspect.ismodule(found) else found
            parts += [f"## {name}", *_described(found, f"conformance.{name}")]
            parts += _members(found, name) if inspect.isclass(found) else ()
    return "\n\n".join(parts) + "\n"


def _described(found: Any, name: str) -> Iterator[str]:
    """Yield the signature, if it can be called, and the docstring."""
    if callable(found) and not (inspect.isclass(found) and issubclass(found, (Enum, Exception))):
        asked = found.__init__ if inspect.isclass(found) else found
        hints = get_type_hints(RunRequest) if found is run else inspect.get_annotations(asked)
        lines = [f"    {_parameter(one, hints)}," for one in inspect.signature(found).parameters.values()]
        result = f" -> {_type(hints['return'])}" if "return" in hints and not inspect.isclass(found) else ""
        yield "\n".join(["```python", f"{name}(", *lines, f"){result}", "```"])
    yield inspect.getdoc(found) or ""


def _parameter(one: inspect.Parameter, hints: Mapping[str, Any]) -> str:
    default = "" if one.default is one.empty else f" = {one.default!r}"
    return f"{one.name}: {_type(hints[one.name])}{default}" if one.name in hints else f"{one.name}{default}"


def _type(hint: Any) -> str:
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", hint if isinstance(hint, str) else inspect.formatannotation(hint))


def _members(found: type, of: str) -> Iterator[str]:
    """Yield the public members of a class that have a docstring, and those of an enumeration."""
    if issubclass(found, Enum):
        yield ", ".join(f"`{one.name}`" for one in found)
        return
    for name, member in vars(found).items():
        inner = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(inner) and inner.__doc__:
            yield f"### {of}.{name}"
            yield from [inspect.getdoc(inner) or ""] if isinstance(member, property) else _described(inner, name)


def menu() -> list[Mapping[str, Any]]:
    """Return the menu of the site."""
    by_heading = {
        heading: [f"docs/{name}.md" for name in names] + TOP.get(heading, []) for heading, names in MENU.items()
    }
    return [{"Begin": "README.md"}, *({heading: places} for heading, places in by_heading.items())]


def build(folder: Path) -> list[str]:
    """Build the site in a folder, and return what is wrong with the pages."""
    from mkdocs.commands.build import build as build_site
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort
    from pymdownx.slugs import slugify

    complaints = _Complaints()
    logging.getLogger("mkdocs").addHandler(complaints)
    try:
        with TemporaryDirectory() as place, suppress(Abort):  # It is among the complaints.
            staged, config = Path(place) / "pages", Path(place) / "site.yml"
            stage(staged)
            config.write_text("site_name: mqconform\n", encoding="utf-8")
            build_site(
                load_config(
                    config_file=str(config),
                    docs_dir=str(staged),
                    site_dir=str(folder.absolute()),
                    nav=menu(),
                    theme={
                        "name": "material",
                        "font": False,
                        "features": ["navigation.sections", "navigation.top", "search.suggest", "content.code.copy"],
                        "palette": [
                            {"media": "(prefers-color-scheme: light)", "scheme": "default", "primary": "indigo"},
                            {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "primary": "indigo"},
                        ],
                    },
                    markdown_extensions=[
                        {"toc": {"permalink": True, "slugify": slugify(case="lower")}},
                        "tables",
                        "pymdownx.superfences",
                        "pymdownx.highlight",
                        "sane_lists",
                    ],
                    plugins=["search"],
                    validation={
                        "nav": {"omitted_files": "warn", "not_found": "warn", "absolute_links": "warn"},
                        "links": {"not_found": "warn", "anchors": "warn", "absolute_links": "warn",
                                  "unrecognized_links": "warn"},
                    },
                )
            )  # fmt: skip
    finally:
        logging.getLogger("mkdocs").removeHandler(complaints)
    return complaints.found


class _Complaints(logging.Handler):
    """The warnings of a build."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(record.getMessage())


def main() -> int:
    """Build the site in the folder that the command line names. Return 1 if something is wrong with a page."""
    if len(sys.argv) != 2:
        print("python -m tools.site FOLDER", file=sys.stderr)
        return 2
    complaints = build(Path(sys.argv[1]))
    for one in complaints:
        print(one, file=sys.stderr)
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
