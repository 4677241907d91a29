"""The files in `ci/`: valid by the schemas of the servers they are for, and their shell does what they promise."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote_plus

import pytest
from base_install import Base, make_bare
from nightly import sample
from ruamel.yaml import YAML

from conformance.runlog import read_run

ROOT = Path(__file__).parents[2]
KITS = ROOT / "ci"
GITHUB, GITLAB, AZURE = (
    KITS / name for name in ("github/action.yml", "gitlab/mqconform.gitlab-ci.yml", "azure/mqconform.yml")
)
# In all kits; run once.
INSTALL = 'python -m pip install --disable-pip-version-check --quiet "$MQ_PACKAGE"'
BROKEN = "MQDMPR-3.1.7.1.3.invalid-path-name"
FAULT = "embedded+accepts-plus-in-queue-name"
GITLAB_INSTALL = INSTALL.replace('"$MQ_PACKAGE"', '"${MQ_PACKAGE:?names what pip installs}"')
# Few tests, and what one of them finds with the fault.
FEW = "--suite names --max-examples 1 -- -k create_queue"


def load(path: Path) -> Any:
    return YAML(typ="safe").load(path)


def filled(text: str, values: Mapping[str, str]) -> str:
    """A value of a kit with its `${{ inputs.x }}` and `$(X)` replaced, as the server does."""
    text = re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", lambda found: values[found[1]], str(text))
    return re.sub(r"\$\(([\w.]+)\)", lambda found: values[found[1]], text)


def script(
    command: str, folder: Path, environment: Mapping[str, str], *, shell: tuple[str, ...]
) -> subprocess.CompletedProcess[str]:
    """Run one shell part as its server does: from a file, in the checkout, with these variables."""
    path = folder.parent / f"{folder.name}.sh"
    path.write_text(command, encoding="utf-8")
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("MQ_", "PYTEST_"))}
    return subprocess.run(
        [*shell, str(path)],
        cwd=folder,
        env={
            **inherited,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            # pip does all but to install, which would change the environment of these tests.
            "PIP_DRY_RUN": "1",
            "PIP_NO_DEPS": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # of this variable alone, 0 is what switches isolation off
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "check out"
    folder.mkdir()
    return folder


def baseline(path: Path) -> None:
    """A baseline that knows what the fault breaks in these few tests."""
    members = f'requirement = "{BROKEN}"\nreason = "known"\nlink = "https://example.org/1"\nexpires = 2999-01-01\n'
    path.write_text(f"[[known]]\n{members}", encoding="utf-8")


@pytest.mark.parametrize(
    ("schema", "path", "options"),
    [
        ("github-actions", "github/action.yml", ()),
        ("github-workflows", "github/workflow.yml", ()),
        ("gitlab-ci", "gitlab/mqconform.gitlab-ci.yml", ("--data-transform", "gitlab-ci")),
        ("azure-pipelines", "azure/mqconform.yml", ("--data-transform", "azure-pipelines")),
        ("azure-pipelines", "azure/azure-pipelines.yml", ("--data-transform", "azure-pipelines")),
    ],
)
def test_the_kits_hold_to_their_servers_schemas(schema: str, path: str, options: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *options,
         "--regex-variant", "nonunicode", str(KITS / path)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", [GITHUB, GITLAB, AZURE], ids=lambda path: path.parent.name)
def test_no_input_is_pasted_into_a_shell(path: Path) -> None:
    """An input reaches a script as a variable: pasted in, its text would be part of the program."""

    def scripts(value: Any) -> list[str]:
        if isinstance(value, dict):
            here = [str(value[key]) for key in ("run", "bash") if key in value]
            return here + [text for member in value.values() for text in scripts(member)]
        if isinstance(value, list):
            return [text for member in value for text in scripts(member)]
        return []

    kit = load(path)
    found = scripts(kit) if path != GITLAB else ["\n".join(kit[".mqconform"]["script"])]
    assert any("mqconform report" in text for text in found)
    assert not [text for text in found if "${{" in text]
    for text in found:
        done = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr


def github_step(name: str, inputs: Mapping[str, str], folder: Path, outputs: Mapping[str, str]) -> Any:
    """Run the step of this name: what was printed and its outputs."""
    action = load(GITHUB)
    (step,) = [one for one in action["runs"]["steps"] if one.get("name") == name]
    assert step["shell"] == "bash"
    values = {f"inputs.{key}": str(one.get("default", "")) for key, one in action["inputs"].items()}
    values |= {f"inputs.{key}": value for key, value in inputs.items()} | {"runner.temp": str(folder.parent)}
    values |= {f"steps.judge.outputs.{key}": value for key, value in outputs.items()}
    files = {name: str(folder.parent / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    environment = {key: filled(value, values) for key, value in step.get("env", {}).items()}
    return script(
        step["run"], folder, {**files, **environment}, shell=("bash", "--noprofile", "--norc", "-eo", "pipefail")
    )


def test_github(checkout: Path) -> None:
    inputs = {"adapter": FAULT, "arguments": FEW, "package": str(ROOT)}
    assert INSTALL in GITHUB.read_text(encoding="utf-8")
    installed = github_step("Install mqconform", inputs, checkout, {})
    assert installed.returncode == 0, installed.stderr
    judged = github_step("Judge", inputs, checkout, {})
    assert judged.returncode == 0, judged.stdout + judged.stderr
    outputs = dict(line.split("=", 1) for line in (checkout.parent / "GITHUB_OUTPUT").read_text().splitlines())
    assert outputs == {"exit-code": "1"}
    # Nothing of the run's own output is a command: all of it stands between the token and its end.
    lines = judged.stdout.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert len(token) == 32 and lines[-1] == f"::{token}::"
    reported = github_step("Report", inputs, checkout, outputs)
    assert reported.returncode == 0, reported.stdout + reported.stderr
    assert any(line.startswith(f"::error title=fail {BROKEN}::") for line in reported.stdout.splitlines())
    assert "## ❌ Does not conform: embedded" in (checkout.parent / "GITHUB_STEP_SUMMARY").read_text(encoding="utf-8")
    out = checkout / "msmq-conformance"
    assert {"report.html", "junit.xml", "mqconform.sarif", "badge.svg"} <= {path.name for path in out.iterdir()}
    log = json.loads((out / "mqconform.sarif").read_text())
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in log["runs"][0]["results"]]
    assert places and all((checkout / place).is_file() for place in places), places
    kept = github_step("Keep the run to compare with", inputs, checkout, outputs)
    assert kept.returncode == 0 and read_run(checkout / "msmq-conformance-last").complete
    assert github_step("Result", inputs, checkout, outputs).returncode == 1
    # Compared with that run the same deviation is no regression.
    assert github_step("Judge", {**inputs, "compare": "true"}, checkout, {}).returncode == 0
    assert github_step("Report", {**inputs, "compare": "true"}, checkout, {"exit-code": "0"}).returncode == 0
    told = (checkout.parent / "GITHUB_STEP_SUMMARY").read_text(encoding="utf-8")
    assert "## ✅ Conforms but for 1 known deviation: embedded" in told
    again = (checkout.parent / "GITHUB_OUTPUT").read_text().splitlines()
    assert again == ["exit-code=1", "exit-code=0"]
    assert github_step("Result", inputs, checkout, {"exit-code": "0"}).returncode == 0


def test_github_says_why_there_is_no_report(checkout: Path) -> None:
    inputs = {"adapter": "embeded"}
    judged = github_step("Judge", inputs, checkout, {})
    assert judged.returncode == 0 and "mqconform: " in judged.stderr
    assert (checkout.parent / "GITHUB_OUTPUT").read_text() == "exit-code=2\n"
    reported = github_step("Report", inputs, checkout, {"exit-code": "2"})
    assert (reported.returncode, reported.stdout) == (0, "There is no run record to report.\n")
    assert github_step("Result", inputs, checkout, {"exit-code": "2"}).returncode == 2


class Artifacts(BaseHTTPRequestHandler):
    """GitLab's answer to a request for the artifacts of a branch's last job that passed; 404 where there is none."""

    folder: Path
    asked: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        self.asked.append((unquote_plus(self.path), self.headers["JOB-TOKEN"]))
        packed = self.folder / "artifacts.zip"
        self.send_response(200 if packed.exists() else 404)
        self.end_headers()
        if packed.exists():
            self.wfile.write(packed.read_bytes())

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def gitlab(checkout: Path) -> Iterator[dict[str, str]]:
    """Variables of a job whose server is here."""
    handler = type("Here", (Artifacts,), {"folder": checkout.parent, "asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {
            "CI_API_V4_URL": f"http://127.0.0.1:{server.server_address[1]}/api/v4",
            "CI_PROJECT_ID": "7",
            "CI_JOB_NAME": "judge it",
            "CI_JOB_TOKEN": "secret",
            "CI_DEFAULT_BRANCH": "main",
        }
        assert set(handler.asked) == {("/api/v4/projects/7/jobs/artifacts/main/download?job=judge it", "secret")}
        server.shutdown()


def test_gitlab_compares_with_the_artifacts_of_the_default_branch(checkout: Path, gitlab: Mapping[str, str]) -> None:
    """A cache could be planted by a job of any branch; these artifacts only by a job of the default one."""
    job = load(GITLAB)[".mqconform"]
    assert [one["key"] for one in job["cache"]] == ["mqconform-pip"]
    given = {"MQ_ADAPTER": FAULT, "MQ_ARGUMENTS": FEW, "MQ_COMPARE": "true", "MQ_PACKAGE": str(ROOT)}
    environment = {**{key: str(value) for key, value in job["variables"].items()}, **given, **gitlab}
    commands = "\n".join(job["script"])
    first = script(commands, checkout, environment, shell=("sh", "-eu"))
    assert first.returncode == 1 and "404" in first.stderr, first.stdout + first.stderr
    shutil.make_archive(str(checkout.parent / "artifacts"), "zip", checkout, "msmq-conformance")
    again = script(commands, checkout, environment, shell=("sh", "-eu"))
    assert again.returncode == 0 and "gate: open: " in again.stdout, again.stdout + again.stderr


def test_gitlab_with_a_baseline(checkout: Path) -> None:
    job = load(GITLAB)[".mqconform"]
    baseline(checkout / "baseline.toml")
    environment = {
        **{key: str(value).replace("$CI_PROJECT_DIR", str(checkout.parent)) for key, value in job["variables"].items()},
        "MQ_ADAPTER": FAULT,
        "MQ_ARGUMENTS": FEW,
        "MQ_BASELINE": "baseline.toml",
        "MQ_PACKAGE": str(ROOT),
    }
    assert job["before_script"] == [GITLAB_INSTALL]
    commands = "\n".join(job["script"])
    done = script(commands, checkout, environment, shell=("sh", "-eu"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "gate: open: " in done.stdout
    issues = json.loads((checkout / "msmq-conformance" / "gl-code-quality-report.json").read_text(encoding="utf-8"))
    (issue,) = [one for one in issues if one["check_name"] == BROKEN]
    assert issue["severity"] == "info" and "failure" not in {
        element.tag for element in ET.parse(checkout / "msmq-conformance" / "junit.xml").iter()
    }
    assert (
        issue["location"]["path"].startswith("msmq-conformance/") and (checkout / issue["location"]["path"]).is_file()
    )
    reports = job["artifacts"]["reports"]
    assert {reports["junit"], reports["codequality"]} <= {
        path.relative_to(checkout).as_posix() for path in (checkout / "msmq-conformance").iterdir()
    }


def test_azure(checkout: Path) -> None:
    template = load(AZURE)
    parameters = {one["name"]: str(one.get("default", "")) for one in template["parameters"]}
    parameters |= {"adapter": "embedded", "arguments": FEW, "package": str(ROOT), "compare": "True"}
    values = {f"parameters.{name}": value for name, value in parameters.items()}
    values |= {"Pipeline.Workspace": str(checkout.parent), "Agent.OS": "Linux"}
    steps = [one for one in template["steps"] if "bash" in one]
    install, judge = steps
    assert install["bash"] == f"set -euo pipefail\n{INSTALL}\n"
    assert install["env"].keys() == {"MQ_PACKAGE", "PIP_CACHE_DIR"}
    environment = {key: filled(value, values) for key, value in judge["env"].items()}
    done = script(judge["bash"], checkout, environment, shell=("bash", "--noprofile", "--norc"))
    assert done.returncode == 0, done.stdout + done.stderr
    summary = checkout / "msmq-conformance" / "summary.md"
    assert f"##vso[task.uploadsummary]{summary}" in done.stdout.splitlines()
    assert summary.read_text(encoding="utf-8").startswith("## ✅ No deviation found: embedded")
    assert ET.parse(checkout / "msmq-conformance" / "junit.xml").getroot().tag == "testsuites"
    assert read_run(checkout.parent / "mqconform-last").complete


def test_azure_ends_as_the_run_does(checkout: Path) -> None:
    """The run's output goes through a filter, which must not lose its exit code."""
    (step,) = [one for one in load(AZURE)["steps"] if one.get("displayName") == "Judge and report"]
    names = ("MQ_SUITES", "MQ_BASELINE", "MQ_ARGUMENTS", "MQ_COMPARE")
    environment = {**dict.fromkeys(names, ""), "MQ_ADAPTER": "##vso[task.complete]", "MQ_OUT": "o", "MQ_LAST": "l"}
    done = script(step["bash"], checkout, environment, shell=("bash", "--noprofile", "--norc"))
    assert done.returncode == 2 and "# #vso[task.complete]" in done.stdout and "##vso" not in done.stdout


def installing() -> dict[str, str]:
    """The line of each kit that installs, as its server runs it, by the kit's name."""
    (step,) = [one for one in load(GITHUB)["runs"]["steps"] if one.get("name") == "Install mqconform"]
    (line,) = load(GITLAB)[".mqconform"]["before_script"]
    (azure,) = [one for one in load(AZURE)["steps"] if one.get("displayName") == "Install mqconform"]
    return {"github": step["run"], "gitlab": line, "azure": azure["bash"]}


def test_no_kit_installs_what_nobody_named(checkout: Path) -> None:
    """The package of this name in a public index need not be ours."""
    (azure,) = [one for one in load(AZURE)["parameters"] if one["name"] == "package"]
    assert "default" not in azure
    github = load(GITHUB)["inputs"]["package"]
    assert github["required"] is True and "default" not in github
    assert not load(GITLAB)[".mqconform"]["variables"]["MQ_PACKAGE"]
    unnamed = script(installing()["gitlab"], checkout, {"MQ_PACKAGE": ""}, shell=("bash", "-e"))
    assert unnamed.returncode != 0 and "MQ_PACKAGE" in unnamed.stderr


def test_no_kit_judges_what_nobody_named(checkout: Path) -> None:
    """A job that forgets its implementation must not pass by what the embedded one does."""
    (azure,) = [one for one in load(AZURE)["parameters"] if one["name"] == "adapter"]
    github = load(GITHUB)["inputs"]["adapter"]
    assert "default" not in azure and "default" not in github and github["required"] is True
    job = load(GITLAB)[".mqconform"]
    assert not job["variables"]["MQ_ADAPTER"]
    given = {key: str(value) for key, value in job["variables"].items()}
    done = script("\n".join(job["script"]), checkout, given, shell=("sh", "-eu"))
    assert done.returncode != 0 and "MQ_ADAPTER" in done.stderr and not (checkout / "msmq-conformance").exists()
    tox = (KITS / "tox" / "tox.ini").read_text(encoding="utf-8")
    (default,) = re.findall(r"\{env:MQ_ADAPTER:(.*?)\}", tox)
    done = script(f"mqconform run --adapter {default} --out out", checkout, {}, shell=("sh",))
    assert done.returncode == 2 and "MQ_ADAPTER" in done.stderr and not (checkout / "out").exists()


def test_every_action_is_pinned_by_commit() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted((KITS / "github").rglob("*.yml"))]
    used = [word for text in texts for word in re.findall(r"uses: (?!\./)(\S+)", text)]
    assert len(used) > 7 and not [word for word in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", word)]


@pytest.mark.parametrize("kit", sample("cli.kits-installed", ["github", "gitlab", "azure"], ["gitlab"]))
def test_a_kit_installs_from_an_index_and_without_one(kit: str, base: Base, checkout: Path) -> None:
    """As it stands, into an environment that has no mqconform: by its name from an index, and a wheel by its path."""
    programs = make_bare(checkout.parent / "env", base)
    own = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": "", "PIP_DRY_RUN": "0"}
    shutil.copy(base.wheel, checkout / base.wheel.name)
    for package, more in (
        ("mqconform", {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(base.wheel.parent)}),
        (f"./{base.wheel.name}", {"PIP_NO_INDEX": "1", "PIP_FORCE_REINSTALL": "1"}),
    ):
        environment = {**own, **more, "MQ_PACKAGE": package, "PIP_CACHE_DIR": str(checkout.parent / "cache")}
        text = f"{installing()[kit]}\nmqconform --version && command -v mqconform"
        done = script(text, checkout, environment, shell=("bash", "-e"))
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.splitlines()[-1] == str(programs / "mqconform"), done.stdout
    nothing = {**own, "PIP_NO_INDEX": "1", "MQ_PACKAGE": "no-such-package-of-mqconform"}
    assert script(installing()[kit], checkout, nothing, shell=("bash", "-e")).returncode != 0


def test_tox(base: Base, checkout: Path) -> None:
    """tox makes the environment and installs the wheel into it; what that depends on is found where it is already."""
    for name in ("tox.ini", "baseline.toml"):
        (checkout / name).write_text((KITS / "tox" / name).read_text(encoding="utf-8"), encoding="utf-8")
    command = (
        f"'{sys.executable}' -m tox run -q -e conformance -x testenv:conformance.pass_env=MQ_*,PYTHONPATH -- {FEW}"
    )
    environment = {"MQ_ADAPTER": FAULT, "MQ_PACKAGE": str(base.wheel), "PYTHONPATH": str(base.site)}
    done = script(command, checkout, {**environment, "PIP_DRY_RUN": "0", "PIP_NO_INDEX": "1"}, shell=("bash",))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "gate: shut: " in done.stdout
    assert {"junit.xml", "summary.md"} <= {path.name for path in (checkout / "msmq-conformance").iterdir()}
