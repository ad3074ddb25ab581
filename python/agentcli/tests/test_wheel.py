"""The wheel bundles the program."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from harness import REPOSITORY, Harness, call, message

SCRIPT = """
import agentcli, sys
assert agentcli.__file__.startswith(sys.argv[1]), agentcli.__file__
with agentcli.Client() as client:
    result = client.thread_start().run("which terminal?")
commands = [item for item in result.items if isinstance(item, agentcli.CommandExecutionItem)]
print(commands[0].aggregated_output, result.final_response)
"""


def test_an_installed_wheel_runs_its_bundled_program(harness: Harness) -> None:
    harness.script(call("exec_command", cmd="tty", tty=True), message("Done."))
    site = unpack(build(harness.root), harness.root / "site")
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(site)],
        cwd=harness.repository,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(site), "AGENT_HOME": str(harness.home), "HOME": str(harness.home)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert "/dev/pts/" in ran.stdout and "Done." in ran.stdout


def build(directory: Path) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(directory)]
    subprocess.run([*command, str(REPOSITORY / "python/agentcli")], check=True)
    [wheel] = directory.glob("agentcli-*-py3-none-*.whl")
    return wheel


def unpack(wheel: Path, site: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    assert (site / "agentcli/py.typed").exists()
    return site

