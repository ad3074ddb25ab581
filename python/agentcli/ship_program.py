"""Puts the program into the wheel: the built agentcli of the clone, and the native parts it needs on this platform."""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HOUSE = Path(__file__).resolve().parents[2]
PROGRAM = HOUSE / "packages/cli"
NATIVE = ("@lydell", "koffi", "@koromix")


class ShipProgram(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        if not (PROGRAM / "dist/agentcli.cjs").exists():
            raise FileNotFoundError(f"{PROGRAM}/dist is missing. Build the program first: node scripts/build.mjs")
        shipped = json.loads((PROGRAM / "package.json").read_text())["version"]
        if shipped != self.metadata.version:
            raise ValueError(f"The program is {shipped}, this package {self.metadata.version}. They ship as one version.")
        for part in ("package.json", "bin", "dist"):
            build_data["force_include"][str(PROGRAM / part)] = f"agentcli/_program/{part}"
        for name in NATIVE:
            folder = HOUSE / "node_modules" / name
            if folder.exists():
                build_data["force_include"][str(folder)] = f"agentcli/_program/node_modules/{name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
