"""How the tests of a run are spread over its workers: module by module, those that take long first.

What a module makes for its tests is made once that way, and no worker has a long module left when others have ended.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

HERE = Path(__file__).parent
_ASKS, _IMPORTS = r"^def \w+\((?:[^)]*\W)?{}\b", r"^from \S+ import .*\b{}\b"
TOGETHER: Mapping[str, str] = {"spark": _ASKS, "whole_run": _ASKS, "by_mutation": _IMPORTS}
"""What a process makes once, and which modules want it: one worker runs them. Spark starts once, and what Java has
compiled stays; whoever else asked for the run of every suite would wait for it."""
SECONDS: Mapping[str, int] = {
    "pages/test_pages.py": 240,
    "pages/test_contributing.py": 40,
    "cli/test_cli_readings.py": 80,
    "cli/test_ci_kits.py": 45,
    "cli/test_cli_run.py": 30,
    "cli/test_cli_bad_input.py": 30,
    "cli/test_cli_diagnose.py": 20,
    "cli/test_cli_endings.py": 20,
    "cli/test_cli_arguments.py": 15,
    "cli/test_cli_incomplete.py": 15,
    "cli/test_cli_interrupted.py": 12,
    "cli/test_cli_hostile_repros.py": 12,
    "adapter/test_adapter_tutorial.py": 60,
    "adapter/test_adapter_dotnet.py": 15,
    "adapter/test_adapter_dotnet_broker.py": 20,
    "adapter/test_adapter_hostile.py": 20,
    "adapter/test_adapter_templates.py": 16,
    "adapter/test_adapter_versions.py": 13,
    "pipeline/test_pipeline_sql.py": 110,
    "pipeline/test_lake_page.py": 20,
    "pipeline/test_pipeline_masters.py": 35,
    "pipeline/test_ingest_spark.py": 45,
    "pipeline/test_ingest_s3.py": 40,
    "pipeline/test_ingest.py": 25,
    "pipeline/test_ingest_lake.py": 20,
    "pipeline/test_pipeline_damage.py": 15,
    "pipeline/test_pipeline_equal.py": 15,
    "pipeline/test_pipeline_broken_streams.py": 13,
    "suites/test_suites_claims_index.py": 35,
    "suites/test_suites_management.py": 35,
    "suites/test_suites_properties.py": 25,
    "suites/test_operations.py": 13,
    "suites/test_plugin_allure.py": 13,
    "suites/test_plugin_own_tests.py": 16,
    "suites/test_sessions_correct.py": 12,
    "suites/test_lock_step.py": 12,
    "report/test_report_browser.py": 20,
    "embedded/test_embedded_faults.py": 30,
    "embedded/network/test_embedded_network_faults.py": 20,
    "embedded/network/test_embedded_rpc_faults.py": 20,
    "grammar/test_grammar_generated.py": 20,
    "grammar/test_grammar_lark.py": 12,
    "grammar/test_grammar_bulk.py": 12,
    "judge/test_columns_rules.py": 17,
    "judge/test_judge_structures.py": 10,
    "judge/test_structure_suite.py": 15,
    "judge/test_transfer_buffer_suite.py": 19,
    "wire/test_wire_bounds.py": 15,
    "capture/test_capture_stream_numbers.py": 12,
    "model/test_model_exploration.py": 11,
    "old/test_old_ids.py": 10,
    "old/test_old_things.py": 13,
    "test_selftest.py": 60,
    "test_selftest_wire.py": 40,
    "test_packaging.py": 25,
}
"""Modules that take longer than others, in seconds of processors at a push; only their order matters."""


@cache
def together(module: str) -> str:
    """What the tests of a module (its path as in node ids) are run for: what is made once, or the module."""
    text = (HERE.parent / module).read_text(encoding="utf-8")
    made = (one for one, pattern in TOGETHER.items() if re.search(pattern.format(one), text, re.MULTILINE))
    return next(made, module)


def long_first(items: list[pytest.Item]) -> None:
    """Sort the tests by their modules, in place; those of a module stay in their order."""
    modules = {item.nodeid.partition("::")[0] for item in items}
    seconds: dict[str, int] = {}
    for module in modules:
        seconds[together(module)] = seconds.get(together(module), 0) + SECONDS.get(module.removeprefix("tests/"), 0)
    items.sort(key=lambda item: -seconds[together(item.nodeid.partition("::")[0])])


def is_worker() -> bool:
    """Tell whether this process is one of several that share the tests."""
    return "PYTEST_XDIST_WORKER" in os.environ


class Spread(LoadScopeScheduling):  # type: ignore[misc]
    """Gives a worker the next modules when it has no more than two tests left."""

    def _split_scope(self, nodeid: str) -> str:
        return together(nodeid.partition("::")[0])
