"""The app server as a child process: JSON lines in, JSON lines out, and how it ended."""

from __future__ import annotations

import contextlib
import json
import queue
import signal
import subprocess
import threading
from collections.abc import Callable

from .config import ClientConfig, command_line, environment
from .errors import LaunchError, TransportClosedError
from .wire import Json

_MAX_STDERR_TAIL_BYTES = 8192
_EXIT_TIMEOUT_S = 2.0


class ServerProcess:
    """Calls `on_message`, and `on_end` once as the last, from a thread of its own."""

    def __init__(
        self,
        config: ClientConfig,
        on_message: Callable[[Json], None],
        on_end: Callable[[TransportClosedError], None],
    ) -> None:
        self._process = _start(config)
        self._on_message = on_message
        self._on_end = on_end
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._tail = b""
        self._stderr_thread = self._run(self._read_stderr)
        self._reader_thread = self._run(self._read)
        self._run(self._write)

    def send(self, message: Json) -> None:
        """Never blocks, also while the program does not read."""
        self._outbox.put(json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")

    def close(self) -> None:
        """Closes standard input, which ends the program and its children; then SIGTERM, then SIGKILL."""
        self._outbox.put(None)
        for send_signal in (None, self._process.terminate, self._process.kill):
            if send_signal:
                send_signal()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_EXIT_TIMEOUT_S)
                break
        if threading.current_thread() is not self._reader_thread:
            self._reader_thread.join(_EXIT_TIMEOUT_S)

    @staticmethod
    def _run(target: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=target, name=f"agentcli {target.__name__}", daemon=True)
        thread.start()
        return thread

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                self._process.kill()
                self._on_end(self._closed_error(f"agentcli wrote a line that is not a JSON message: {line[:200]!r}"))
                return
            self._on_message(message)
        self._on_end(self._closed_error(None))

    def _write(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        # A program that has ended breaks the pipe; the reader reports how it ended.
        with contextlib.suppress(OSError):
            while (line := self._outbox.get()) is not None:
                stdin.write(line)
                stdin.flush()
        with contextlib.suppress(OSError):
            stdin.close()

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._tail = (self._tail + line)[-_MAX_STDERR_TAIL_BYTES:]

    def _closed_error(self, reason: str | None) -> TransportClosedError:
        code = self._process.wait()
        self._stderr_thread.join(_EXIT_TIMEOUT_S)
        stderr = self._tail.decode("utf-8", "replace")
        name = _signal_name(-code) if code < 0 else None
        how = f"was killed by {name}" if name else f"ended with exit code {code}"
        details = f": {stderr.strip()}" if stderr.strip() else "."
        return TransportClosedError(
            reason or f"agentcli app-server {how}{details}",
            exit_code=None if name else code,
            signal=name,
            stderr_tail=stderr,
        )


def _start(config: ClientConfig) -> subprocess.Popen[bytes]:
    command = command_line(config)
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=config.cwd,
            env=environment(config),
        )
    except (OSError, ValueError) as error:
        advice = "Check that it is installed and executable."
        raise LaunchError(f"Could not start {command[0]}: {error}. {advice}") from error


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
