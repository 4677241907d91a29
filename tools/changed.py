"""Selects the tests that a change may break: `./mq test --changed [REF]`.

A test module depends on what it imports, and so on, also in functions, and on modules that strings name. Tests that
start processes depend on the rooms that `ROOMS` declares for them. A doubt selects: a module too many costs seconds.
"""

from __future__ import annotations

import ast
import gc
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
BY_NAME = ("conformance/adapter/connectors.py", "conformance/harness/connecting.py")
"""Who imports the embedded implementation when somebody asks for it by name: tests that never say it don't need it."""
EMBEDDED = "conformance/embedded/"
COMMANDS = "conformance/cli/"
"""Commands import every room: whoever calls them within its process depends on `ROOMS`, as if it had started one."""
EVERYTHING = frozenset(
    {"pyproject.toml", "mq", "tests/command_server.py", "tests/spreading.py", "conformance/plugin.py"}
)
"""What each test runs in; a conftest.py above it is too."""
STARTS = re.compile(r"\bsubprocess\b|^(from|import) commands\b|\bpytester\b|mqconform", re.M)
"""Text of a module that starts commands, or drivers as processes."""
READS = re.compile(r"""glob\(.*\.py["']|\.__path__|ls-files|copytree|ast\.parse""")
"""Text of a test that reads source files."""
_COMMAND = "cli", "harness", "runlog"
_SELFTEST = "activex", "adapter", "embedded", "explaining", "harness", "histories", "judge", "model", "net", "suites"
ROOMS: Mapping[str, tuple[str, ...]] = {
    "tests/": (),
    "tests/test_bounded.py": ("cli", "judge", "runlog"),
    "tests/test_packaging.py": ("cli",),
    "tests/test_safe_path.py": ("adapter", "pipeline", *_COMMAND),
    "tests/test_scratch.py": ("cli", "harness"),
    "tests/test_selftest.py": _SELFTEST,
    "tests/test_selftest_wire.py": _SELFTEST,
    "tests/activex/": ("activex",),
    "tests/adapter/": ("adapter", "adapters", "cli"),
    "tests/capture/": ("capture",),
    "tests/captures/": ("capture", "captures", "judge", "replay", "wire", *_COMMAND),
    "tests/cli/": ("explaining", "report", *_COMMAND),
    "tests/cli/test_ci_kits.py": ("cli", "report"),
    "tests/cli/test_cli_replay.py": ("capture", "captures", "replay", *_COMMAND),
    "tests/cli/test_cli_grammar.py": ("cli", "grammar"),
    "tests/cli/test_cli_infer.py": ("histories", "model", *_COMMAND),
    "tests/cli/test_cli_readings.py": ("histories", "model", "spec", *_COMMAND),
    "tests/cli/test_cli_situations.py": ("activex", "cli", "histories"),
    "tests/cli/test_cli_spec.py": ("cli", "spec"),
    "tests/embedded/": ("adapter", "embedded"),
    "tests/grammar/": ("grammar",),
    "tests/histories/": ("histories",),
    "tests/judge/": ("judge",),
    "tests/live/": ("adapter", "embedded", "live", "net", *_COMMAND),
    "tests/model/": ("model",),
    "tests/net/": ("adapter", "net"),
    "tests/pages/": ("adapter", "cli", "report"),
    "tests/pipeline/": ("capture", "captures", "pipeline", "replay", *_COMMAND),
    "tests/report/": ("report", *_COMMAND),
    "tests/runlog/": ("runlog",),
    "tests/spec/": ("spec",),
    "tests/suites/": ("adapter", "histories", "suites", *_COMMAND),
    "tests/wire/": ("wire",),
}
"""Rooms that processes of a test, or sources that it reads, are about, beside the modules of `conformance/` itself.

The longest prefix of the test's path counts; nothing declared is every room. What else it runs has its own tests.
"""


@dataclass
class _Module:
    """What a file imports: always, only when somebody asks a package for a name, and in each fixture of a conftest."""

    now: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)
    bound: dict[str, str] = field(default_factory=dict)
    fixtures: dict[str, set[str]] = field(default_factory=dict)


class Tree:
    """The Python files of a checkout and what each depends on."""

    def __init__(self, top: Path) -> None:
        self.top = top
        listed = _git(top, "ls-files", "--cached", "--others", "--exclude-standard", "*.py")
        self.text = {name: (top / name).read_text(encoding="utf-8") for name in listed if (top / name).is_file()}
        options = tomllib.loads((top / "pyproject.toml").read_text(encoding="utf-8"))
        self.paths = options["tool"]["pytest"]["ini_options"]["pythonpath"]
        self.parsed: dict[str, ast.Module] = {}
        gc.disable()  # millions of nodes, of which none goes: looking for garbage takes longer than parsing
        for name, text in self.text.items():
            try:
                self.parsed[name] = ast.parse(text)
            except SyntaxError:  # a fake that is broken on purpose: nobody imports it
                self.parsed[name] = ast.Module([], [])
        gc.enable()
        self.dotted = {_dotted(name): name for name in self.text}

    @cached_property
    def tests(self) -> list[str]:
        """Every test module of the project."""
        return [name for name in self.text if name.startswith("tests/") and Path(name).name.startswith("test_")]

    @cached_property
    def modules(self) -> Mapping[str, _Module]:
        """The imports of each file."""
        lazy = {name: _lazy(self.parsed[name], name) for name in self.text if name.endswith("__init__.py")}
        self._lazy = {name: found for name, found in lazy.items() if found[1]}
        return {name: self._read(name) for name in self.text}

    @cached_property
    def users(self) -> Mapping[str, set[str]]:
        """Who depends on a file directly."""
        users: dict[str, set[str]] = defaultdict(set)
        for name, module in self.modules.items():
            for each in module.now:
                named = name in BY_NAME and each.startswith(EMBEDDED)
                called = name.startswith(COMMANDS) and not each.startswith(COMMANDS)
                if not (named or called):
                    users[each].add(name)
            if Path(name).name == "conftest.py":
                self._add_fixtures(name, module, users)
        return users

    def _add_fixtures(self, name: str, module: _Module, users: dict[str, set[str]]) -> None:
        """Tests below a conftest depend on it, and on what a fixture imports if they name the fixture."""
        below = [each for each in self.text if each.startswith(str(Path(name).parent) + "/") and each != name]
        for test in below:
            users[name].add(test)
        for fixture, imported in module.fixtures.items():
            word = re.compile(rf"\b{fixture}\b")
            for test in below:
                if word.search(self.text[test]):
                    for each in imported:
                        users[each].add(test)

    def depends(self, files: Iterable[str]) -> set[str]:
        """The files and all that depend on one of them."""
        left = list(files)
        found = set(left)
        while left:
            for user in self.users.get(left.pop(), ()):
                if user not in found:
                    found.add(user)
                    left.append(user)
        return found

    def saying(self, pattern: re.Pattern[str]) -> set[str]:
        """The modules of tests whose text, or that of what they import, has a pattern."""
        return self.depends(name for name, text in self.text.items() if name[:6] == "tests/" and pattern.search(text))

    def find(self, name: str, user: str) -> str | None:
        """Return the file of a module as another file imports it."""
        first = [] if user.startswith(("conformance/", "tools/")) else [str(Path(user).parent), *self.paths]
        for folder in ("", *first):
            stem = f"{folder}/{name.replace('.', '/')}".removeprefix("./").removeprefix("/")
            for path in (f"{stem}.py", f"{stem}/__init__.py"):
                if path in self.text:
                    return path
        return None

    def _read(self, name: str) -> _Module:
        found = _Module()
        in_conftest = Path(name).name == "conftest.py"
        for node in self.parsed[name].body:
            if _is_lazy(node, name):
                continue
            into = found.now
            if in_conftest and isinstance(node, ast.FunctionDef) and "autouse" not in ast.dump(node):
                into = found.fixtures.setdefault(node.name, set())
            self._collect(node, name, into)
        return found

    def _collect(self, node: ast.AST, name: str, into: set[str]) -> None:
        if isinstance(node, ast.If) and _type_checking(node):
            for each in node.orelse:
                self._collect(each, name, into)
            return
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname or "." not in alias.name:
                    self._add_whole(alias.name, alias.asname or alias.name, name, into)
                else:
                    self._add(alias.name, name, into)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, name)
            for alias in node.names:
                self._add_name(base, alias.name, alias.asname or alias.name, name, into)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self._add_text(node.value, name, into)
        elif isinstance(node, ast.JoinedStr):
            self._add_pattern(node, name, into)
        elif isinstance(node, ast.Call) and _called(node) in ("walk_packages", "iter_modules") and node.args:
            self._add_package(node.args[0], name, into)
        for child in ast.iter_child_nodes(node):
            self._collect(child, name, into)

    def _add(self, dotted: str, user: str, into: set[str]) -> str | None:
        """Add a module and the packages around it."""
        parts = dotted.split(".")
        file = None
        for end in range(1, len(parts) + 1):
            file = self.find(".".join(parts[:end]), user)
            if file is not None:
                into.add(file)
        return file

    def _add_whole(self, dotted: str, alias: str, user: str, into: set[str]) -> None:
        """Add a module, and what its attributes stand for where it is a package that loads names late."""
        file = self._add(dotted, user, into)
        if file in self._lazy:
            for node in ast.walk(self.parsed[user]):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == alias:
                    self._add_name(dotted, node.attr, node.attr, file, into)

    def _add_name(self, base: str, name: str, alias: str, user: str, into: set[str]) -> None:
        if self.find(f"{base}.{name}", user) is not None:
            self._add_whole(f"{base}.{name}", alias, user, into)
            return
        file = self._add(base, user, into)
        if file in self._lazy and not name.startswith("__"):
            bound, nodes = self._lazy[file]
            if name in bound:
                self._add_name(*bound[name], name, file, into)
            elif name not in _names(self.parsed[file]):
                for node in nodes:
                    self._collect(node, file, into)

    def _add_text(self, text: str, user: str, into: set[str]) -> None:
        """Add a module that a string names (`package.module:name`), or a file by its path."""
        if "/" in text and text in self.text:
            into.add(text)
        if re.fullmatch(r"(conformance|tools)(\.\w+)+(:\w+)?", text):
            self._add(text.partition(":")[0], user, into)

    def _add_pattern(self, node: ast.JoinedStr, user: str, into: set[str]) -> None:
        """Add what `f"conformance.suites.{suite}.rejudge"` may name."""
        parts = [
            re.escape(str(each.value))
            if isinstance(each, ast.Constant)
            else re.escape(_dotted(user))
            if isinstance(each, ast.FormattedValue) and isinstance(each.value, ast.Name) and each.value.id == "__name__"
            else r"\w+"
            for each in node.values
        ]
        pattern = re.compile("".join(parts))
        if "".join(parts).startswith(r"conformance\."):
            into.update(file for dotted, file in self.dotted.items() if pattern.fullmatch(dotted))

    def _add_package(self, argument: ast.expr, user: str, into: set[str]) -> None:
        """Add every module of a package whose `__path__` is walked."""
        written = ast.unparse(argument)
        if not written.endswith("__path__"):
            return
        alias = written.removesuffix("__path__").rstrip(".")
        package: str | None = _dotted(user)
        if alias:
            package = next((to for name, to in _aliases(self.parsed[user]) if name == alias), alias)
        into.update(file for dotted, file in self.dotted.items() if dotted.startswith(f"{package}."))


def _git(top: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", "-C", str(top), *arguments, "-z"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"tools.changed: git: {done.stderr.strip()}")
    return [name for name in done.stdout.split("\0") if name]


def _dotted(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _absolute(node: ast.ImportFrom, file: str) -> str:
    if not node.level:
        return node.module or ""
    package = list(Path(file).parent.parts)
    kept = package[: len(package) - node.level + 1]
    return ".".join([*kept, *([node.module] if node.module else [])])


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _is_lazy(node: ast.AST, file: str) -> bool:
    """Tell whether a part of a package only runs when a name is asked for."""
    return file.endswith("__init__.py") and isinstance(node, ast.FunctionDef) and node.name == "__getattr__"


def _lazy(parsed: ast.Module, file: str) -> tuple[dict[str, tuple[str, str]], list[ast.stmt]]:
    """Return the names that a package with `__getattr__` imports for type checkers, and what loads them."""
    nodes = [node for node in parsed.body if _is_lazy(node, file)]
    bound: dict[str, tuple[str, str]] = {}
    for node in parsed.body if nodes else ():
        if isinstance(node, ast.If) and _type_checking(node):
            nodes += node.body
            for each in node.body:
                if isinstance(each, ast.ImportFrom):
                    bound |= {alias.asname or alias.name: (_absolute(each, file), alias.name) for alias in each.names}
    return bound, nodes


def _names(parsed: ast.Module) -> set[str]:
    """Return the names that the top of a module binds."""
    found: set[str] = set()
    for node in parsed.body:
        if _type_checking(node):
            continue
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        else:
            found |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            found |= {name for name, _ in _aliases(ast.Module([node], []))}
    return found


def _aliases(parsed: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names that imports bind, with what each stands for."""
    for node in ast.walk(parsed):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def changed_files(top: Path, ref: str) -> list[str]:
    """Return what differs from a commit, with what git does not know yet."""
    differs = _git(top, "diff", "--name-only", "--no-renames", ref)
    return sorted({*differs, *_git(top, "ls-files", "--others", "--exclude-standard")})


def select(top: Path, changed: Iterable[str]) -> tuple[list[str] | None, str]:
    """Return the test modules to run, None for all, and the reason in a sentence."""
    changed = list(changed)
    for name in changed:
        if name in EVERYTHING or Path(name).name == "conftest.py":
            return None, f"{name} concerns every test"
        if not name.endswith((".py", ".md")):
            return None, f"{name} is data"
    tree = Tree(top)
    sources = [name for name in changed if name.endswith(".py")]
    gone = {str(Path(name).parent) for name in sources if name not in tree.text and "test_" not in name}
    # Whoever finds modules by their folder has found one less.
    near = [name for name in tree.text if str(Path(name).parent) in gone and "test_" not in name]
    affected = tree.depends([*near, *(name for name in sources if name in tree.text)])
    if any(name.startswith(EMBEDDED) for name in affected):
        affected |= tree.depends(BY_NAME) & tree.saying(re.compile(r"\bembedded\b"))
    far = tree.saying(STARTS) | tree.saying(READS) | tree.depends(name for name in tree.text if COMMANDS in name)
    words = {word for name in changed for word in _words(tree, name)}
    mentioned = re.compile("|".join(map(re.escape, words))) if words else None
    chosen = []
    for test in tree.tests:
        rooms = ROOMS[max((prefix for prefix in ROOMS if test.startswith(prefix)), key=len)]
        about = _rooms(sources) if not rooms else _rooms(sources) & {"", *rooms}
        if test in affected or (test in far and about) or (mentioned and mentioned.search(tree.text[test])):
            chosen.append(test)
    named = ", ".join(changed[:3]) + (f" and {len(changed) - 3} files" if len(changed) > 3 else "")
    return chosen, f"{len(chosen)} of {len(tree.tests)} test modules, for {named or 'no change'}"


def _rooms(sources: Iterable[str]) -> set[str]:
    """Return the rooms of changed files, `""` for a module of conformance/ itself, and `adapters`."""
    found = set()
    for top, *inner in (Path(name).parts for name in sources):
        if top in ("conformance", "adapters"):
            found.add(top if top == "adapters" else inner[0] if len(inner) > 1 else "")
    return found


def _words(tree: Tree, name: str) -> Iterator[str]:
    """Yield how tests name a file that they do not import: pages by name, scripts and fakes by name or folder."""
    path = Path(name)
    if name.endswith(".md"):
        yield from (path.name, '"docs"', "docs/") if path.parent.name == "docs" else (path.name,)
    elif not name.startswith(("conformance/", "tools/")) and not tree.users.get(name) and "test_" not in path.name:
        yield from (path.stem, f'"{path.parent.name}"', f"{path.parent.name}/")


def main() -> None:
    """Print the selection for pytest, and the sentence to the error stream."""
    chosen, why = select(TOP, changed_files(TOP, sys.argv[1] if len(sys.argv) > 1 else "HEAD"))
    print(f"mq: {why}: every test" if chosen is None else f"mq: {why}", file=sys.stderr)
    print("tests" if chosen is None else "\n".join(chosen))


if __name__ == "__main__":
    main()
