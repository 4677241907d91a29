"""Reports made from a run record: for people, for CI servers, for spreadsheets, and one JSON object.

Importing this package loads no format: each function is looked up when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.report.allure import write_allure
    from conformance.report.comparison import render_comparison
    from conformance.report.console import print_summary
    from conformance.report.html import render_html
    from conformance.report.markdown import render_badge, render_markdown
    from conformance.report.sarif import render_junit, render_sarif
    from conformance.report.summary import summary
    from conformance.report.tabular import write_csv

_OF = {
    "print_summary": "console",
    "render_badge": "markdown",
    "render_comparison": "comparison",
    "render_html": "html",
    "render_junit": "sarif",
    "render_markdown": "markdown",
    "render_sarif": "sarif",
    "write_allure": "allure",
    "write_csv": "tabular",
}

__all__ = [
    "print_summary",
    "render_badge",
    "render_comparison",
    "render_html",
    "render_junit",
    "render_markdown",
    "render_sarif",
    "summary",
    "write_allure",
    "write_csv",
]


def __getattr__(name: str) -> Any:
    if name not in _OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_OF[name]}"), name)
