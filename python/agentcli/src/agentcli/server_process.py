"""The program as a process of ours: lines in, lines out, and how it ended."""

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

_MOST_TAIL = 8192
_PATIENCE_S = 2.0


class ServerProcess:
    """`on_message` and, once and last, `on_end` are called from a thread of their own."""

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
        """Never waits for the program to read."""
        self._outbox.put(json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")

    def close(self) -> None:
        """The end of its input ends the program, children and all; one that stays is made to go."""
        self._outbox.put(None)
        for insist in (None, self._process.terminate, self._process.kill):
            if insist:
                insist()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_PATIENCE_S)
                break
        if threading.current_thread() is not self._reader_thread:
            self._reader_thread.join(_PATIENCE_S)

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
                self._on_end(self._ending(f"agentcli wrote what is no message: {line[:200]!r}"))
                return
            self._on_message(message)
        self._on_end(self._ending(None))

    def _write(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        # A program that is gone breaks the pipe; how it ended is told where its output is read.
        with contextlib.suppress(OSError):
            while (line := self._outbox.get()) is not None:
                stdin.write(line)
                stdin.flush()
        with contextlib.suppress(OSError):
            stdin.close()

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._tail = (self._tail + line)[-_MOST_TAIL:]

    def _ending(self, why: str | None) -> TransportClosedError:
        code = self._process.wait()
        self._stderr_thread.join(_PATIENCE_S)
        stderr = self._tail.decode("utf-8", "replace")
        name = _signal_name(-code) if code < 0 else None
        how = f"was ended by {name}" if name else f"ended with exit code {code}"
        said = f": {stderr.strip()}" if stderr.strip() else "."
        return TransportClosedError(
            why or f"agentcli app-server {how}{said}",
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
        advice = "Check that it is installed and may be executed."
        raise LaunchError(f"{command[0]} could not be started: {error}. {advice}") from error


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
