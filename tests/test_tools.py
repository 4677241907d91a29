"""Tools for those who change the project: which tests a change concerns, how large the project is, who imports whom."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tools import changed, circles, size

FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = [".", "tests"]\n',
    "page.md": "",
    "conformance/__init__.py": "",
    "conformance/low.py": "",
    "conformance/high.py": "def f():\n    from conformance import low\n",
    "conformance/typed.py": "if TYPE_CHECKING:\n    from conformance import low\n",
    "conformance/named.py": "WHERE = 'conformance.low:f'\n",
    "conformance/late/__init__.py": (
        "if TYPE_CHECKING:\n    from conformance.late.one import One\n    from .two import Two\n"
        "def __getattr__(name):\n    return getattr(import_module(f'{__name__}.{OF[name]}'), name)\n"
    ),
    "conformance/late/one.py": "",
    "conformance/late/two.py": "",
    "conformance/walked/__init__.py": "for each in walk_packages(__path__): import_module(each.name)\n",
    "conformance/walked/one.py": "",
    "conformance/many.py": "def f(name):\n    import_module(f'conformance.{name}.one').g()\n",
    "conformance/adapter/__init__.py": "",
    "conformance/adapter/connectors.py": "FAULTS = 'conformance.embedded.faults'\n",
    "conformance/embedded/__init__.py": "",
    "conformance/embedded/faults.py": "",
    "conformance/cli/app.py": "def run():\n    from conformance.model import step\n",
    "conformance/model/step.py": "",
    "tests/conftest.py": "@pytest.fixture\ndef store():\n    import storing\n    from conformance import typed\n",
    "tests/storing.py": "",
    "tests/helper.py": "from conformance.high import f\n",
    "tests/commands.py": "",
    "tests/wire/test_low.py": "import conformance.low\n",
    "tests/wire/test_helped.py": "def test():\n    import helper\n",
    "tests/wire/test_typed.py": "from conformance.typed import f\n",
    "tests/wire/test_named.py": "from conformance import named\n",
    "tests/wire/test_late_one.py": "from conformance.late import One\n",
    "tests/wire/test_late_whole.py": "from conformance import late\nlate.Two()\n",
    "tests/wire/test_walked.py": "import conformance.walked\n",
    "tests/wire/test_many.py": "import conformance.many\n",
    "tests/wire/test_store.py": "def test(store): ...\n",
    "tests/wire/test_page.py": "PAGE = 'page.md'\n",
    "tests/wire/test_asking.py": "from conformance.adapter import connectors\n",
    "tests/cli/test_asking.py": "from conformance.adapter import connectors\nconnectors('embedded')\n",
    "tests/cli/test_command.py": "import commands\n",
    "tests/test_command.py": "import commands\n",
    "tests/cli/test_called.py": "from conformance.cli.app import run\n",
    "tests/model/test_called.py": "from conformance.cli.app import run\n",
    "tests/wire/fakes/driver.py": "",
    "tests/wire/test_fake.py": "FAKE = HERE / 'fakes' / 'driver.py'\n",
}
CALLING = "cli/test_called.py", "model/test_called.py", "cli/test_command.py", "*"
CHANGES: dict[str, set[str] | None] = {
    "conformance/low.py": {"wire/test_low.py", "wire/test_helped.py", "wire/test_named.py", *CALLING},
    "conformance/typed.py": {"wire/test_typed.py", "wire/test_store.py", *CALLING},
    "conformance/late/one.py": {"wire/test_late_one.py", "wire/test_many.py", "*"},
    "conformance/late/two.py": {"wire/test_late_whole.py", "*"},
    "conformance/walked/one.py": {"wire/test_walked.py", "wire/test_many.py", "*"},
    "conformance/walked/gone.py": {"wire/test_walked.py", "wire/test_many.py", "*"},
    "conformance/embedded/faults.py": {"cli/test_asking.py", "*"},
    "conformance/model/step.py": {"model/test_called.py", "*"},
    "conformance/cli/app.py": {"cli/test_called.py", "model/test_called.py", "cli/test_command.py", "*"},
    "tests/helper.py": {"wire/test_helped.py"},
    "tests/storing.py": {"wire/test_store.py"},
    "tests/commands.py": {"cli/test_command.py", "*"},
    "tests/wire/test_low.py": {"wire/test_low.py"},
    "tests/wire/fakes/driver.py": {"wire/test_fake.py"},
    "page.md": {"wire/test_page.py"},
    "tests/conftest.py": None,
    "pyproject.toml": None,
    "conformance/spec/data.json": None,
}
"""What a change selects; `*` is a test that starts commands and has no rooms declared."""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A checkout with a file of each kind."""
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "a"]):
        subprocess.run([*git, *arguments], check=True)
    return tmp_path


def test_a_change_selects_what_depends_on_it(toy: Path) -> None:
    written = {"*": "test_command.py"}
    found = {name: changed.select(toy, [name])[0] for name in CHANGES}
    expected = {
        name: tests if tests is None else sorted(f"tests/{written.get(test, test)}" for test in tests)
        for name, tests in CHANGES.items()
    }
    assert {name: tests and sorted(tests) for name, tests in found.items()} == expected


def test_what_git_does_not_know_is_changed_too(toy: Path) -> None:
    assert changed.changed_files(toy, "HEAD") == []
    (toy / "new.md").write_text("new")
    (toy / "page.md").unlink()
    (toy / "conformance/low.py").write_text("new = 1")
    assert changed.changed_files(toy, "HEAD") == ["conformance/low.py", "new.md", "page.md"]


def test_the_grammar_concerns_tests_of_the_grammar_and_not_those_of_the_wire() -> None:
    chosen, why = changed.select(changed.TOP, ["conformance/grammar/strategies.py"])
    assert chosen is not None
    assert {"tests/grammar/test_grammar_strategies.py", "tests/cli/test_cli_grammar.py"} <= set(chosen), why
    assert not [test for test in chosen if test.startswith("tests/wire/")]


def test_every_declaration_is_of_tests_and_rooms_that_are_there() -> None:
    top = changed.TOP
    assert [
        name
        for name in (*changed.ROOMS, *changed.BY_NAME, changed.EMBEDDED, changed.COMMANDS)
        if not (top / name).exists()
    ] == []
    rooms = {room for each in changed.ROOMS.values() for room in each}
    assert {room for room in rooms if not any((top / at / room).is_dir() for at in (".", "conformance"))} == set()


@pytest.mark.parametrize("contracts", [".importlinter", ".importlinter-circles"])
def test_every_contract_of_imports_is_fulfilled(contracts: str) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), contracts, "--no-cache"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles.circle() == []


def test_an_import_in_a_function_makes_a_circle_and_one_for_types_alone_does_not(toy: Path) -> None:
    assert circles.circle(toy) == []
    low = toy / "conformance/low.py"
    low.write_text("if TYPE_CHECKING:\n    from conformance.high import f\n")
    assert circles.circle(toy) == []
    low.write_text("def g():\n    from conformance.high import f\n")
    assert set(circles.circle(toy)) == {"conformance.low", "conformance.high"}


def test_no_figure_is_outgrown() -> None:
    measured = size.measure()
    outgrown = {name: measured[name] for name, most in size.FIGURES.items() if measured[name][0] > most}
    assert outgrown == {}, "the project outgrows its size: a commit may raise a figure of tools/size.py with its reason"


def test_a_long_file_a_long_function_and_branches_are_measured(toy: Path) -> None:
    body = "".join(f"    if a == {at}:\n        return {at}\n" for at in range(20))
    (toy / "conformance/long.py").write_text(f"@compiled\ndef kernel(a):\n{body * 3}\n\ndef plain(a):\n{body}")
    for folder in size.FOLDERS:
        (toy / folder).mkdir(exist_ok=True)
        (toy / folder / "one.py").write_text("one = 1\n")
    measured = size.measure(toy)
    assert measured["longest file of conformance"] == (165, "conformance/long.py")
    assert measured["longest function"] == (41, "conformance/long.py:125")
    assert measured["most branches of a function"] == (21, "conformance/long.py:125")
    assert measured["files of tools"] == (1, "")


def test_docstrings_say_who_does_what() -> None:
    """One that begins with What, Whether, As or Of names a thing and no act."""
    found = [
        f"{path.relative_to(size.TOP)}:{node.lineno}"
        for path in sorted((size.TOP / "conformance").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        and node.value.value.startswith(("What ", "Whether ", "As ", "Of "))
    ]  # fmt: skip
    assert not found
