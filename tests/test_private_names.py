"""Canaries for names and texts of other projects that are not part of their public interface.

Each fails with a sentence that says what stops working when the name is gone.
"""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
BOUNDED = ("hypothesis", "pytest", "pytest-xdist", "execnet", "lark", "scapy", "allure-pytest", "numba", "pyspark")
"""The packages whose private names are used."""


def test_hypothesis_asks_whether_a_module_is_local() -> None:
    from hypothesis.internal.conjecture import providers

    used = inspect.getsource(providers).count("is_local_module_file(")
    assert hasattr(providers, "is_local_module_file") and used, (
        "hypothesis reads literals of local modules in another way: harness/hypothesis_settings.py no longer keeps "
        "them out, and the same seed explores other examples in each kind of process."
    )


def test_hypothesis_names_a_strategy_that_draws_otherwise() -> None:
    from hypothesis import errors

    assert issubclass(getattr(errors, "FlakyStrategyDefinition", object), errors.Flaky), (
        "hypothesis has no FlakyStrategyDefinition: harness/failure_verdicts.py reports a driver that answers the same "
        "calls otherwise as an error of the harness."
    )


@pytest.mark.parametrize("module", ["_pytest.main", "xdist.dsession"])
def test_pytest_says_that_it_stops_after_failures(module: str) -> None:
    source = inspect.getsource(__import__(module, fromlist=["*"]))
    assert re.search(r'f?"stopping after ', source), (
        f"{module} says something else than 'stopping after' for --maxfail: harness/pytest_hooks.py records the run as "
        "interrupted instead of ended at its failures."
    )


def test_execnet_knows_the_process_of_a_worker() -> None:
    from execnet.gateway import Gateway

    assert callable(getattr(Gateway, "_rinfo", None)), (
        "execnet's Gateway has no _rinfo(): harness/worker_processes.py cannot tell the workers of a run to end."
    )


def test_xdist_waits_for_its_workers() -> None:
    from xdist.workermanage import NodeManager

    assert "EXIT_TIMEOUT" in inspect.getsource(NodeManager.teardown_nodes), (
        "xdist kills its workers after another time than NodeManager.EXIT_TIMEOUT: harness/worker_processes.py cannot "
        "give those of an interrupted run the time to complete their records."
    )


def test_scapy_fixes_a_random_value() -> None:
    from scapy.volatile import RandShort

    fix: Callable[[], Any] | None = getattr(RandShort(), "_fix", None)
    assert fix is not None and isinstance(fix(), int), (
        "scapy's random values have no _fix(): wire/layers.py cannot build a packet that holds one."
    )


def test_lark_finds_the_conflicts_of_a_grammar() -> None:
    from conformance.grammar.names import _choose

    ambiguous = 'start: a | b\na: "x"\nb: "x"\n'
    assert _choose(ambiguous, "start")[1] == "Reduce/Reduce conflict", (
        "lark.parsers.lalr_analysis reports a conflict in another way: grammar/names.py would take LALR tables "
        "that change the language."
    )


def test_allure_keeps_the_result_of_the_test_that_runs() -> None:
    from allure_commons.reporter import AllureReporter
    from allure_pytest import plugin, utils

    assert "allure_listener" in inspect.getsource(plugin) and utils.ALLURE_LABEL_MARK == "allure_label", (
        "allure-pytest calls its listener or its marker of labels otherwise: allure_live.py adds no requirements."
    )
    assert callable(getattr(AllureReporter, "get_test", None)), (
        "allure's reporter has no get_test(): allure_live.py cannot put verdicts into the result of a test."
    )


def test_numba_gives_the_code_of_a_function() -> None:
    from numba.core.codegen import CPUCodeLibrary
    from numba.core.funcdesc import FunctionDescriptor

    assert callable(getattr(CPUCodeLibrary, "get_llvm_str", None)) and hasattr(FunctionDescriptor, "mangled_name"), (
        "numba has no get_llvm_str or mangled_name: wire/columns/jit.py cannot keep compiled judges as object files."
    )


def test_numba_counts_arrays_by_the_names_that_are_replaced() -> None:
    from conformance.wire.columns.jit import _COUNTING, compiled, text_of

    @compiled
    def total(words: Any) -> int:
        return int(words[1:].sum())

    declared = set(re.findall(r"^declare .*@(NRT_\w+)", text_of(total, [("int64", 1)], "total"), re.MULTILINE))
    assert not declared, (
        f"numba calls {', '.join(sorted(declared))} for arrays, which is none of {', '.join(_COUNTING)}: the object "
        "files of wire/columns/jit.py have a symbol that nothing defines."
    )
    from numba.core.runtime import nrtdynmod

    gone = [name for name in _COUNTING if name not in inspect.getsource(nrtdynmod)]
    assert not gone, f"numba has no {', '.join(gone)} any more: wire/columns/jit.py replaces what is never called."


def test_py4j_tells_its_own_errors_from_those_of_java() -> None:
    from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

    assert issubclass(Py4JJavaError, Py4JError) and not issubclass(Py4JNetworkError, Py4JJavaError), (
        "py4j raises its own errors as Java's: pipeline/spark.py reports a killed Java process as a failed job."
    )


NOT_OF_CONNECT = {"sparkContext", "SparkContext", "rdd", "RDD", "_jvm", "_jsc", "_jsparkSession", "_gateway", "_jdf"}
"""Names that a session of Spark Connect lacks."""


def test_spark_is_asked_by_its_public_names_alone() -> None:
    """In the package itself, so that it runs on Spark Connect, too; also in programs for other processes."""
    in_text = re.compile(rf"\.({'|'.join(NOT_OF_CONNECT)})\b")
    found = []
    for path in sorted((ROOT / "conformance").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if any(name in text for name in NOT_OF_CONNECT) else ():
            if isinstance(node, ast.Attribute) and node.attr in NOT_OF_CONNECT:
                found.append(f"{path.name}:{node.lineno} {node.attr}")
            elif isinstance(node, ast.alias) and node.name.rpartition(".")[2] in NOT_OF_CONNECT:
                found.append(f"{path.name}: {node.name}")
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and in_text.search(node.value):
                found.append(f"{path.name}:{node.lineno} {node.value[:40]}")
    assert not found
    assert in_text.search("spark.sparkContext.parallelize([1])")


@pytest.mark.parametrize("name", BOUNDED)
def test_the_next_major_version_is_not_installed_unseen(name: str) -> None:
    """Each package has an upper bound, and the installed version is within it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = (project["dependencies"], *project["optional-dependencies"].values())
    found = [one for group in groups for one in map(Requirement, group) if one.name == name]
    assert found, f"{name} is not named in pyproject.toml"
    for one in found:
        upper = [each for each in one.specifier if each.operator == "<"]
        assert upper, f"{one} has no upper bound"
        assert all(each.contains(version(name)) for each in upper), f"{one} excludes the installed {version(name)}"
    # A lower one may be that of an extra that is not installed, as `connect` has for pyspark; one of them holds whole.
    assert any(one.specifier.contains(version(name)) for one in found), f"all exclude the installed {version(name)}"
