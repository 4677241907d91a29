"""Functions over arrays, compiled by numba and called without it."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from conformance.judge.sessions.columns.judge import run
from conformance.wire.columns import machine_code
from conformance.wire.columns.arrays import Compiled

SOURCE = '''
from conformance.wire.columns.jit import compiled

@compiled
def summed(numbers, table, scale):
    """Each number with the row of the table it has the place of; noted in the first column."""
    total = 0
    for at in range(len(numbers)):
        for column in range(table.shape[1]):
            total += numbers[at] * table[at, column] * scale
        table[at, 0] = -at
    return total
'''


@pytest.fixture
def summed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Compiled]:
    """A function of a module that lies elsewhere, kept elsewhere too."""
    (tmp_path / "summing.py").write_text(SOURCE, "utf-8")
    monkeypatch.setattr(machine_code, "cache_folder", lambda: tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield Compiled("summing", "summed", ())
    sys.modules.pop("summing", None)


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64])
def test_arrays_of_several_types(summed: Compiled, kind: type) -> None:
    numbers = np.array([1, 2, 250], kind)
    table = np.arange(6, dtype=np.int64).reshape(3, 2)
    assert summed(numbers, table, -3) == -3 * (1 * 1 + 2 * 5 + 250 * 9)
    assert table.tolist() == [[0, 1], [-1, 3], [-2, 5]]


def test_a_bound_call_sees_what_is_in_the_arrays_then(summed: Compiled) -> None:
    numbers, table = np.array([1, 2], np.int64), np.ones((2, 1), np.int64)
    call = summed.bound(numbers, table, 1)
    assert call() == 3
    table[:] = 5
    assert call() == 15
    del numbers, table
    assert call() == -2  # the arrays are there as long as the call


def test_an_array_in_pieces_is_refused(summed: Compiled) -> None:
    table = np.ones((4, 4), np.int64)
    with pytest.raises(ValueError, match="summed needs contiguous arrays"):
        summed(np.ones(4, np.int64), table[:, :2], 1)


def test_a_changed_module_is_compiled_again(summed: Compiled, tmp_path: Path) -> None:
    arguments = (np.ones(2, np.int64), np.ones((2, 1), np.int64), 1)
    assert summed(*arguments) == 2
    assert Compiled("summing", "summed", ()).wanted(*arguments).is_kept()
    assert not Compiled("summing", "summed", ("conformance.verdict",)).wanted(*arguments).is_kept()
    path = tmp_path / "summing.py"
    path.write_text(path.read_text("utf-8").replace("* scale", "+ scale"), "utf-8")
    assert not Compiled("summing", "summed", ()).wanted(*arguments).is_kept()


def taken(node: ast.ImportFrom) -> list[str]:
    """The modules something is imported from: of a package, they are what is imported."""
    found = find_spec(str(node.module))
    assert found is not None
    package = found.submodule_search_locations is not None
    return [f"{node.module}.{one.name}" for one in node.names] if package else [str(node.module)]


def test_all_that_is_compiled_in_is_among_what_it_uses() -> None:
    """What such a module takes from another is in its code; other modules of the columns take more from others."""
    makers = ("conformance.wire.columns.jit", "conformance.wire.columns.arrays", "conformance.wire.columns.lowering")
    todo, met = [run.module], {*makers}
    while todo:
        name = todo.pop()
        met.add(name)
        found = find_spec(name)
        assert found is not None and found.origin is not None
        for node in ast.walk(ast.parse(Path(found.origin).read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("conformance."):
                for other in taken(node):
                    assert other in (run.module, *run.uses, *makers), f"{name} takes from {other}"
                    todo += [other] if ".columns." in other and other not in met else []


def test_numba_is_not_imported_where_the_code_is_kept() -> None:
    path = Path(__file__).parents[2] / "fixtures" / "captures" / "cut-record.pcap"
    code = (
        "import sys\n"
        "from conformance.captures.columns import judge_range\n"
        "from conformance.spec.catalogue import assignment\n"
        f"judge_range({str(path)!r}, profile='msmq-6.0', readings=assignment('windows'), sessions=False)\n"
        "print('numba' in sys.modules)\n"
    )
    told = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    ]
    assert told[1] == ["False"]
