"""Reports made from a run record: for people, for CI servers, for spreadsheets, and one JSON object."""

from conformance.report.allure import write_allure
from conformance.report.badge import render_badge
from conformance.report.comparison import render_comparison
from conformance.report.console import print_summary
from conformance.report.html import render_html
from conformance.report.junit import render_junit
from conformance.report.markdown import render_markdown
from conformance.report.sarif import render_sarif
from conformance.report.summary import summary
from conformance.report.tabular import write_csv, write_parquet

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
    "write_parquet",
]
