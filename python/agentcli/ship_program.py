"""Build hook: bundles the built agentcli, and the native modules it needs on this platform, into the wheel."""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = REPOSITORY / "packages/cli"
NATIVE_MODULES = ("@lydell", "@koromix")


class ShipProgram(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        if not (PROGRAM / "dist/agentcli.cjs").exists():
            raise FileNotFoundError(f"{PROGRAM}/dist not found. Build the program first: node scripts/build.mjs")
        program_version = json.loads((PROGRAM / "package.json").read_text())["version"]
        if program_version != self.metadata.version:
            raise ValueError(f"The program has version {program_version}, this package {self.metadata.version}. Make the versions equal.")
        for part in ("package.json", "bin", "dist"):
            build_data["force_include"][str(PROGRAM / part)] = f"agentcli/_program/{part}"
        for name in NATIVE_MODULES:
            folder = REPOSITORY / "node_modules" / name
            if folder.exists():
                build_data["force_include"][str(folder)] = f"agentcli/_program/node_modules/{name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
