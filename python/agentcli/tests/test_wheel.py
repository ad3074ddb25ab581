"""The wheel as it is installed: the program is inside and works."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from desk import HOUSE, Desk, call, say

STORY = """
import agentcli, sys
assert agentcli.__file__.startswith(sys.argv[1]), agentcli.__file__
with agentcli.Client() as client:
    result = client.thread_start().run("which terminal?")
commands = [item for item in result.items if isinstance(item, agentcli.CommandExecutionItem)]
print(commands[0].aggregated_output, result.final_response)
"""


def test_the_wheel_has_the_program_inside(desk: Desk) -> None:
    desk.answers(call("exec_command", cmd="tty", tty=True), say("Done."))
    site = unpack(build(desk.root), desk.root / "site")
    ran = subprocess.run(
        [sys.executable, "-c", STORY, str(site)],
        cwd=desk.repository,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(site), "AGENT_HOME": str(desk.home), "HOME": str(desk.home)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert "/dev/pts/" in ran.stdout and "Done." in ran.stdout


def build(directory: Path) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(directory)]
    subprocess.run([*command, str(HOUSE / "python/agentcli")], check=True)
    [wheel] = directory.glob("agentcli-*-py3-none-*.whl")
    return wheel


def unpack(wheel: Path, site: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    assert (site / "agentcli/py.typed").exists()
    return site

