"""Reports made from a run record: HTML, JUnit XML, console, and one JSON object."""

from conformance.report.comparison import render_comparison
from conformance.report.console import print_summary
from conformance.report.html import render_html
from conformance.report.junit import render_junit
from conformance.report.summary import summary

__all__ = ["print_summary", "render_comparison", "render_html", "render_junit", "summary"]
