"""The bridge as a process of ours: found, launched, and ended with this process, however that ends."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import subprocess
import threading
from pathlib import Path

from .bridge import Bridge
from .errors import ConfigurationError

_READY = "platform-sdk-bridge ready "
_LAUNCH_S = 60.0
_PATIENCE_S = 5.0
_MOST_TAIL = 8192


def launch_bridge(
    *,
    workspace: str | os.PathLike[str] | None = None,
    api_key: str | None = None,
    base_url: str | None = None,
    program: str | os.PathLike[str] | None = None,
) -> Bridge:
    variables = {"PLATFORM_API_KEY": api_key, "PLATFORM_BACKEND_URL": base_url}
    environment = {**os.environ, **{name: value for name, value in variables.items() if value is not None}}
    process = _BridgeProcess([*_command(program), "bridge", "--with-stdin"], workspace, environment)
    url, token = process.ready()
    return Bridge(url, token, is_alive=process.is_alive, end=process.end)


_shared: Bridge | None = None
_sharing = threading.Lock()


def shared_bridge() -> Bridge:
    """One for all agents that did not bring another. A key comes with each call."""
    global _shared
    with _sharing:
        if _shared is None or not _shared.is_alive():
            _shared = launch_bridge()
        return _shared


def _command(program: str | os.PathLike[str] | None) -> list[str]:
    named = os.fspath(program) if program is not None else os.environ.get("PLATFORM_SDK_BRIDGE")
    found = named or shutil.which("platform-sdk")
    if not found:
        message = "There is no platform-sdk on PATH, which runs local agents."
        raise _missing(f"{message} Install @agentcli/platform-sdk with npm, or set PLATFORM_SDK_BRIDGE to its program.")
    if not Path(found).exists() and not shutil.which(found):
        raise _missing(f"There is no bridge at {found}. Correct PLATFORM_SDK_BRIDGE.")
    node = shutil.which("node")
    if not node:
        raise _missing("There is no node on PATH, which the bridge needs. Install Node 20 or newer.")
    return [node, found] if found.endswith((".mjs", ".cjs", ".js")) else [found]


class _BridgeProcess:
    def __init__(
        self, command: list[str], workspace: str | os.PathLike[str] | None, environment: dict[str, str]
    ) -> None:
        self._told: list[str] = []
        self._is_told = threading.Event()
        self._tail = ""
        try:
            # Its standard input is ours alone: when this process ends, however it ends, so does the bridge.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd=workspace,
                env=environment,
                text=True,
                errors="replace",
            )
        except OSError as error:
            raise _missing(f"The bridge {command[0]} cannot be started: {error}.") from error
        threading.Thread(target=self._read, name="platform_sdk bridge", daemon=True).start()
        atexit.register(self.end)

    def ready(self) -> tuple[str, str]:
        """Its address and its token."""
        if not self._is_told.wait(_LAUNCH_S) or not self._told:
            self.end()
            said = self._tail.strip() or "it said nothing"
            raise _missing(f"The bridge did not start: {said}")
        facts = json.loads(self._told[0])
        return facts["url"], Path(facts["authTokenFile"]).read_text()

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        """The end of its input ends it, with everything its agents have started; one that stays is made to go."""
        atexit.unregister(self.end)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        for insist in (None, self._process.terminate, self._process.kill):
            if insist:
                insist()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_PATIENCE_S)
                return

    def _read(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                if line.startswith(_READY) and not self._told:
                    self._told.append(line[len(_READY) :])
                    self._is_told.set()
                self._tail = (self._tail + line)[-_MOST_TAIL:]
        self._is_told.set()


def _missing(message: str) -> ConfigurationError:
    return ConfigurationError(message, code="bridge_not_found", operation="launch_bridge")
