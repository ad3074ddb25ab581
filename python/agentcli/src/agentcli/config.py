"""How the program is started, and under which name this client speaks to it."""

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
    """Another program than the one this package ships with; a JavaScript file is started with node."""
    launch_args_override: tuple[str, ...] | None = None
    """The whole command line, in place of the one made here."""
    config_overrides: tuple[str, ...] = ()
    """Configuration for every thread, each `key=value` as after `-c`."""
    cwd: str | os.PathLike[str] | None = None
    env: Mapping[str, str] | None = None
    """Added to the environment of this process."""
    client_name: str = "agent_python_sdk"
    client_title: str | None = None
    client_version: str = __version__
    experimental_api: bool = True
    start_timeout_s: float = 30.0
    """How long the program may take to answer for the first time."""


def command_line(config: ClientConfig) -> list[str]:
    if config.launch_args_override is not None:
        return list(config.launch_args_override)
    overrides = [word for override in config.config_overrides for word in ("--config", override)]
    return [*_program(config), *overrides, "app-server", "--listen", "stdio://"]


def environment(config: ClientConfig) -> dict[str, str]:
    return {**os.environ, **(config.env or {})}


SHIPPED = Path(__file__).parent / "_program" / "bin" / "agentcli.cjs"


def _program(config: ClientConfig) -> list[str]:
    """The one that was named, else the one inside this package, else the one on the path."""
    if config.agent_bin is not None:
        return _runnable(os.fspath(config.agent_bin), config)
    if SHIPPED.exists():
        return _runnable(str(SHIPPED), config)
    found = shutil.which("agentcli", path=environment(config).get("PATH"))
    if found is None:
        raise LaunchError(
            "The program agentcli was not found: it is not inside this package and not on PATH. "
            "Install it (npm install -g agentcli), or set ClientConfig(agent_bin=…)."
        )
    return [found]


def _runnable(program: str, config: ClientConfig) -> list[str]:
    if not program.endswith((".cjs", ".js", ".mjs")):
        return [program]
    if not os.path.exists(program):
        raise LaunchError(f"{program} could not be started: there is no such file. Correct ClientConfig(agent_bin=…).")
    node = shutil.which("node", path=environment(config).get("PATH"))
    if node is None:
        raise LaunchError(f"{program} needs node, which is not on PATH. Install Node 18.19 or newer.")
    return [node, program]
