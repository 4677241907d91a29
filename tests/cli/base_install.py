"""A virtual environment with the base install alone: the wheel of this checkout, and what it depends on without extras.

The dependencies are links to the packages of the environment that runs the tests, so nothing is fetched. What an extra
adds is not there.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
_PIP = """#!/bin/sh
# All but to install: that would change the environment of these tests, or of the machine.
export PIP_DRY_RUN=1 PIP_NO_DEPS=1 PIP_NO_BUILD_ISOLATION=0 PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1
exec {python} -m pip "$@"
"""
_SCRIPT = "#!{python}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n"


@dataclass(frozen=True, slots=True)
class Base:
    """The environment at `folder`. site: where its packages are. wheel: what was installed."""

    folder: Path
    site: Path
    wheel: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def variables(self, **more: str) -> dict[str, str]:
        """The environment variables of a process whose user has activated it, and has set nothing of ours."""
        ours = ("MQ_", "PYTEST_", "PYTHONPATH", "VIRTUAL_ENV", "COV_")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
        return {
            **kept,
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "NO_COLOR": "1",
            "PIP_NO_INDEX": "1",
            **more,
        }


def made_base(folder: Path) -> Base:
    """What `make_base` has made in this folder."""
    (wheel,) = folder.glob("*.whl")
    (site,) = (folder / "env").glob("lib/python*/site-packages")
    return Base(folder / "env", site, wheel)


def make_base(folder: Path) -> Base:
    """Build the wheel and install it and its dependencies into a new environment, within seconds."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=300)
    venv.create(folder / "env", with_pip=False, symlinks=True)
    base = made_base(folder)
    with zipfile.ZipFile(base.wheel) as archive:
        archive.extractall(base.site)
    (own,) = distributions(path=[str(base.site)])  # nothing else is there yet
    for one in (own, *_needed(own)):
        if one is not own:
            _link(one, base.site)
        for script in one.entry_points.select(group="console_scripts"):
            text = _SCRIPT.format(python=base.python, module=script.module, function=script.attr)
            _write(base.folder / "bin" / script.name, text)
    for name in ("pip", "pip3"):
        _write(base.folder / "bin" / name, _PIP.format(python=sys.executable))
    return base


def make_bare(folder: Path, base: Base) -> Path:
    """An environment with pip and what the wheel depends on, and without the wheel; its folder of programs."""
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (own,) = (one for one in distributions(path=[str(base.site)]) if _plain(one.name) == "mqconform")
    for one in (distribution("pip"), *_needed(own)):
        _link(one, site)
    return folder / "bin"


def extras() -> set[str]:
    """The packages that the extras add to the base install, by the names they are installed under."""
    own = distribution("mqconform")
    wanted = [Requirement(text) for text in own.requires or ()]
    names = {_plain(each.name) for each in wanted if each.marker is not None and "extra" in str(each.marker)}
    return names - {_plain(each.name) for each in wanted if each.marker is None}


def _needed(own: Distribution) -> Iterator[Distribution]:
    seen, waiting = set[str](), [own]
    while waiting:
        for text in waiting.pop().requires or ():
            wanted = Requirement(text)
            name = _plain(wanted.name)
            if name in seen or not (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
                continue
            seen.add(name)
            found = distribution(wanted.name)
            waiting.append(found)
            yield found


def _link(one: Distribution, site: Path) -> None:
    for top in {file.parts[0] for file in one.files or ()} - {"..", "__pycache__"}:
        if not (site / top).exists():
            (site / top).symlink_to(Path(str(one.locate_file(top))))


def _write(script: Path, text: str) -> None:
    script.write_text(text, encoding="utf-8")
    script.chmod(0o755)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
