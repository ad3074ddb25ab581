"""A server on 127.0.0.1 that answers as a test says, and a clock that does not make it wait."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from platform_sdk import Client
from platform_sdk.surroundings import Clock, Stop

AGENT_ID = "bc-00000000-0000-4000-8000-000000000001"
RUN_ID = "run-00000000-0000-4000-8000-000000000001"
RUN_PATH = f"/v1/agents/{AGENT_ID}/runs/{RUN_ID}"


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Reply:
    """`cut` breaks the connection off behind the body; `hold` keeps it open until the server goes."""

    status: int = 200
    body: bytes = b""
    cut: bool = False
    hold: bool = False


Answer = Callable[[Asked, int], Reply]


def give(value: object, status: int = 200) -> Answer:
    return lambda asked, count: Reply(status, json.dumps(value).encode())


def problem(status: int, code: str) -> Answer:
    return give({"error": {"code": code, "message": f"no: {code}"}}, status)


def lost(asked: Asked, count: int) -> Reply:
    return Reply(0, cut=True)


def wire_run(**more: object) -> dict[str, object]:
    return {"id": RUN_ID, "agentId": AGENT_ID, "status": "RUNNING", "createdAt": "x", "updatedAt": "x", **more}


def frame(event: str, data: object, id: str | None = None) -> str:
    first = "" if id is None else f"id: {id}\n"
    return f"{first}event: {event}\ndata: {json.dumps(data)}\n\n"


class QuickClock(Clock):
    """Time passes only by waiting, and waiting takes no time."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def now(self) -> float:
        return sum(self.waits)

    def wait(self, seconds: float, stop: Stop) -> None:
        stop.check()
        self.waits.append(seconds)


class ScriptedPlatform:
    """`count` of an answer is how often the same was asked before."""

    def __init__(self, answers: dict[str, Answer]) -> None:
        self.asked: list[Asked] = []
        self.clock = QuickClock()
        self._leaving = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, answers))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def client(self) -> Client:
        return Client(api_key="plt_test", base_url=self.url, clock=self.clock)

    def hold(self) -> None:
        self._leaving.wait()

    def __enter__(self) -> ScriptedPlatform:
        return self

    def __exit__(self, *_: object) -> None:
        self._leaving.set()
        self._server.shutdown()
        self._server.server_close()


def _handler(platform: ScriptedPlatform, answers: dict[str, Answer]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            path = self.path.partition("?")[0]
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, json.loads(text) if text else None)
            same = [one for one in platform.asked if (one.method, one.path.partition("?")[0]) == (self.command, path)]
            platform.asked.append(asked)
            answer = answers.get(f"{self.command} {path}", problem(404, "not_found"))
            self._send(answer(asked, len(same)))

        def _send(self, reply: Reply) -> None:
            if reply.status:
                self.send_response(reply.status)
                self.send_header("X-Request-ID", "req-1")
                # What is promised and does not come is a connection that broke.
                self.send_header("Content-Length", str(len(reply.body) + reply.cut + reply.hold))
                self.end_headers()
                self.wfile.write(reply.body)
                self.wfile.flush()
            if reply.hold:
                platform.hold()
            self.close_connection = True
            if reply.cut:
                self.connection.shutdown(socket.SHUT_RDWR)

        do_GET = do_POST = do_DELETE = _answer

        def log_message(self, format: str, *args: Any) -> None:
            return

    return Handler
