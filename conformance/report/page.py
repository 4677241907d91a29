"""HTML pages: one file that needs no network and runs only the script of this package.

Text from outside passes `conformance.report.text` (bounded, hidden characters as escapes) and then Jinja's escaping, or
is JSON in a block that no text in it can end, which the script inserts as text. The content security policy allows the
two inline blocks of the page, by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache as once
from importlib import resources
from typing import TYPE_CHECKING, Any

from conformance import __version__, files
from conformance.verdict import Json

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


_SUM = hashlib.sha256().digest_size


def render_page(template: str, scripts: Sequence[str], styles: Sequence[str] = ("report.css",), **context: Any) -> str:
    """Return the page of a template of this folder, with the styles joined in one block and the scripts in another."""
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
    """Return JSON that cannot end the script element around it, whatever text it holds."""
    text = json.dumps(value, indent=indent, ensure_ascii=True, separators=None if indent else (",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return trusted(text)


def trusted(text: str) -> Markup:
    """Mark the package's own text so that the template does not escape it."""
    from markupsafe import Markup

    return Markup(text)


@once
def asset(name: str) -> str:
    """Return a file of the templates' folder."""
    return resources.files("conformance.report").joinpath("templates", name).read_text(encoding="utf-8")


@once
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from jinja2 import __version__ as jinja

    class Quick(Environment):
        """A Jinja environment that caches the Python code compiled from a template."""

        def compile(self, source: Any, name: Any = None, filename: Any = None, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(source, str) or args or kwargs:
                return super().compile(source, name, filename, *args, **kwargs)
            key = hashlib.sha256("\0".join([jinja, __version__, str(name), source]).encode()).hexdigest()[:32]
            made = _kept(key, lambda: str(super(Quick, self).compile(source, name, filename, raw=True)))
            return self._compile(made, filename or "<template>")

    environment = Quick(
        autoescape=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(asset),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda value: f"{value:,}"
    return environment


def _kept(key: str, make: Callable[[], str]) -> str:
    """Return the text cached for `key` if its digest is right, else cache and return that of `make`."""
    try:
        place = files.cache_folder()
    except OSError:
        return make()
    name = f"templates/{key}.py"
    content = files.read_cached(place, name) or b""
    if hashlib.sha256(content[_SUM:]).digest() == content[:_SUM]:
        return content[_SUM:].decode()
    made = make()
    files.write_cached(place, name, hashlib.sha256(made.encode()).digest() + made.encode())
    return made


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
