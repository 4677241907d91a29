"""The files in `ci/` for a job of a client: valid by the schemas of their servers, ended by the client or the judge."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
GITHUB, GITLAB = ROOT / "ci/github/serve/action.yml", ROOT / "ci/gitlab/mqconform-serve.gitlab-ci.yml"
SERVED = importlib.util.find_spec("conformance.embedded.network") is not None
CLIENT = f"{sys.executable} {Path(__file__).with_name('one_client.py')}"


def script(kit: str) -> tuple[list[str], str]:
    """The shell of a kit, and its part that serves."""
    loaded = YAML(typ="safe").load(GITHUB if kit == "github" else GITLAB)
    if kit == "github":
        (step,) = [each for each in loaded["runs"]["steps"] if each.get("name") == "Serve and test"]
        assert "${{" not in step["run"], "an input reaches a script as a variable"
        return ["bash", "--noprofile", "--norc", "-eo", "pipefail"], step["run"]
    return ["sh", "-e"], loaded[".mqconform-serve"]["script"][0]


@pytest.mark.parametrize(
    ("schema", "path", "options"),
    [("github-actions", GITHUB, ()), ("gitlab-ci", GITLAB, ("--data-transform", "gitlab-ci"))],
    ids=["github", "gitlab"],
)
def test_the_kits_hold_to_their_servers_schemas(schema: str, path: Path, options: tuple[str, ...]) -> None:
    line = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *options]
    line += ["--regex-variant", "nonunicode", str(path)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not SERVED, reason="this checkout has no embedded queue manager on the network")
@pytest.mark.parametrize("kit", ["github", "gitlab"])
@pytest.mark.parametrize(
    ("client", "arguments", "code"),
    [("right", "", 0), ("wrong", "", 1), ("silent", "", 5), ("failing", "", 7), ("right", "--fault no-such-fault", 2)],
)
def test_a_job_ends_as_the_client_or_the_judge_does(
    kit: str, client: str, arguments: str, code: int, tmp_path: Path
) -> None:
    shell, text = script(kit)
    folder = tmp_path / "check out"
    folder.mkdir()
    (folder / "job.sh").write_text(text, encoding="utf-8")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests/net")]),
        "MQ_CLIENT": f"{CLIENT} {client}",
        "MQ_SERVE_ARGUMENTS": f"--listen 127.0.0.1:0 --ping-port 0 {arguments}",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    done = subprocess.run(
        [*shell, "job.sh"], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    if code in (0, 1):
        assert re.search(r"packets? judged", done.stdout)
        assert (folder / "msmq-serve" / "junit.xml").is_file() and (folder / "msmq-serve.pcapng").is_file()
