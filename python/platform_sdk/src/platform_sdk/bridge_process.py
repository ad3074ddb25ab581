"""The bridge as a child process that ends when this process ends, however that ends."""

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
_LAUNCH_TIMEOUT_S = 60.0
_EXIT_TIMEOUT_S = 5.0
_MAX_STDERR_TAIL_CHARACTERS = 8192


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
    """The bridge of all agents without one of their own. Each call brings its key."""
    global _shared
    with _sharing:
        if _shared is None or not _shared.is_alive():
            _shared = launch_bridge()
        return _shared


def _command(program: str | os.PathLike[str] | None) -> list[str]:
    configured = os.fspath(program) if program is not None else os.environ.get("PLATFORM_SDK_BRIDGE")
    bridge = configured or _which("platform-sdk")
    if not bridge:
        message = "platform-sdk not found on PATH. It runs local agents."
        raise _missing(f"{message} Install @agentcli/platform-sdk with npm, or set PLATFORM_SDK_BRIDGE to its program.")
    if not os.path.dirname(bridge):
        # A name: a file in the working directory may be an agent's.
        found = _which(bridge)
        if not found:
            raise _missing(f"{bridge} not found on PATH. Correct PLATFORM_SDK_BRIDGE.")
        bridge = found
    elif not Path(bridge).exists():
        raise _missing(f"Bridge not found at {bridge}. Correct PLATFORM_SDK_BRIDGE.")
    node = _which("node")
    if not node:
        raise _missing("node not found on PATH. It runs the bridge: install Node 20 or newer.")
    # npm links a file of ours, which would look for node on all of PATH.
    target = os.path.realpath(bridge)
    return [node, target] if target.endswith((".mjs", ".cjs", ".js")) else [bridge]


def _which(name: str) -> str | None:
    """Not in the working directory, which relative and empty entries of PATH mean: an agent may have written there."""
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return shutil.which(name, path=os.pathsep.join(entry for entry in entries if os.path.isabs(entry)))


class _BridgeProcess:
    def __init__(
        self, command: list[str], workspace: str | os.PathLike[str] | None, environment: dict[str, str]
    ) -> None:
        self._ready_lines: list[str] = []
        self._is_ready_or_ended = threading.Event()
        self._tail = ""
        try:
            # The bridge ends with its standard input, which closes when this process ends, however it ends.
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
            raise _missing(f"Could not start the bridge {command[0]}: {error}.") from error
        threading.Thread(target=self._read, name="platform_sdk bridge", daemon=True).start()
        atexit.register(self.end)

    def ready(self) -> tuple[str, str]:
        """Returns its URL and its token."""
        if not self._is_ready_or_ended.wait(_LAUNCH_TIMEOUT_S) or not self._ready_lines:
            self.end()
            output = self._tail.strip() or "it wrote nothing to standard error"
            raise _missing(f"The bridge did not start: {output}")
        ready = json.loads(self._ready_lines[0])
        return ready["url"], Path(ready["authTokenFile"]).read_text()

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        """Closes standard input, which ends the bridge and all processes of its agents; then SIGTERM, then SIGKILL."""
        atexit.unregister(self.end)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        for send_signal in (None, self._process.terminate, self._process.kill):
            if send_signal:
                send_signal()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_EXIT_TIMEOUT_S)
                return

    def _read(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                if line.startswith(_READY) and not self._ready_lines:
                    self._ready_lines.append(line[len(_READY) :])
                    self._is_ready_or_ended.set()
                self._tail = (self._tail + line)[-_MAX_STDERR_TAIL_CHARACTERS:]
        self._is_ready_or_ended.set()


def _missing(message: str) -> ConfigurationError:
    return ConfigurationError(message, code="bridge_not_found", operation="launch_bridge")
