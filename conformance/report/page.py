"""The shell of a page: one file that needs no network and runs nothing but the script written here.

Everything from outside passes `conformance.report.text` (bounded, hidden characters as escapes) and then Jinja's
escaping, or stands as JSON in a block that no text in it can end, and reaches the page as text. The content security
policy allows exactly the two inline blocks of the page, by their hashes, and nothing from anywhere else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from conformance import __version__
from conformance.spec.compiled import cache_folder
from conformance.verdict import Json

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment
    from jinja2.bccache import Bucket
    from markupsafe import Markup


def render_page(template: str, scripts: Sequence[str], styles: Sequence[str] = ("report.css",), **context: Any) -> str:
    """The page that a template of this folder makes, with these styles and scripts in one each, in their order."""
    style, script = "\n".join(map(asset, styles)), '"use strict";\n' + "\n".join(map(asset, scripts))
    return (
        _environment()
        .get_template(template)
        .render(
            version=__version__,
            style=trusted(style),
            script=trusted(script),
            style_hash=_digest(style),
            script_hash=_digest(script),
            **context,
        )
    )


def json_block(value: Json, indent: int | None = None) -> Markup:
    """JSON that cannot end the script element it stands in, whatever text it holds."""
    text = json.dumps(value, indent=indent, ensure_ascii=True, separators=None if indent else (",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return trusted(text)


def trusted(text: str) -> Markup:
    """Our own text, which a template takes as it is."""
    from markupsafe import Markup

    return Markup(text)


@cache
def asset(name: str) -> str:
    """A file of the templates' folder."""
    return resources.files("conformance.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(asset),
        bytecode_cache=_kept(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda value: f"{value:,}"
    return environment


def _kept() -> BytecodeCache | None:
    """Where compiled templates are kept, each with a hash of its text. None where nothing can be kept."""
    from jinja2 import FileSystemBytecodeCache

    class Kept(FileSystemBytecodeCache):
        """One that does without where nothing more can be written."""

        def dump_bytecode(self, bucket: Bucket) -> None:
            with suppress(OSError):
                super().dump_bytecode(bucket)

    try:
        folder = cache_folder() / "templates"
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return Kept(str(folder), "%s.cache")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
