"""How the program is started, and how this client identifies itself."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import LaunchError
from .version import __version__


@dataclass(frozen=True, kw_only=True)
class ClientConfig:
    agent_bin: str | os.PathLike[str] | None = None
    """The program to run in place of the bundled one; a JavaScript file is run with node."""
    launch_args_override: tuple[str, ...] | None = None
    """The whole command line, in place of the default."""
    config_overrides: tuple[str, ...] = ()
    """Configuration for every thread, each `key=value` as for `-c`."""
    cwd: str | os.PathLike[str] | None = None
    env: Mapping[str, str] | None = None
    """Added to the environment of this process."""
    client_name: str = "agent_python_sdk"
    client_title: str | None = None
    client_version: str = __version__
    experimental_api: bool = True
    start_timeout_s: float = 30.0
    """How long to wait for the first response of the program."""


def command_line(config: ClientConfig) -> list[str]:
    if config.launch_args_override is not None:
        return list(config.launch_args_override)
    overrides = [word for override in config.config_overrides for word in ("--config", override)]
    return [*_find_program(config), *overrides, "app-server", "--listen", "stdio://"]


def environment(config: ClientConfig) -> dict[str, str]:
    return {**os.environ, **(config.env or {})}


BUNDLED_PROGRAM = Path(__file__).parent / "_program" / "bin" / "agentcli.cjs"


def _find_program(config: ClientConfig) -> list[str]:
    """The configured program, else the bundled one, else the one on PATH."""
    if config.agent_bin is not None:
        return _command(os.fspath(config.agent_bin), config)
    if BUNDLED_PROGRAM.exists():
        return _command(str(BUNDLED_PROGRAM), config)
    program = _which("agentcli", config)
    if program is None:
        raise LaunchError(
            "Program not found: agentcli is neither bundled with this package nor on PATH. "
            "Install it (npm install -g agentcli), or set ClientConfig(agent_bin=…)."
        )
    # npm links its file here, which would look for node on all of PATH.
    target = os.path.realpath(program)
    return _command(target, config) if target.endswith(_SCRIPTS) else [program]


def _command(program: str, config: ClientConfig) -> list[str]:
    if not program.endswith(_SCRIPTS):
        return [program]
    if not os.path.exists(program):
        raise LaunchError(f"Could not start {program}: file not found. Correct ClientConfig(agent_bin=…).")
    node = _which("node", config)
    if node is None:
        raise LaunchError(f"{program} needs node, which is not on PATH. Install Node 18.19 or newer.")
    return [node, program]


_SCRIPTS = (".cjs", ".js", ".mjs")


def _which(name: str, config: ClientConfig) -> str | None:
    """Not in the working directory, which relative and empty entries of PATH mean: an agent may have written there."""
    entries = environment(config).get("PATH", os.defpath).split(os.pathsep)
    return shutil.which(name, path=os.pathsep.join(entry for entry in entries if os.path.isabs(entry)))
