"""A server on 127.0.0.1 with scripted responses, and a clock that does not wait."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from platform_sdk import Client
from platform_sdk.clock import Clock
from platform_sdk.stop_signal import StopSignal

AGENT_ID = "bc-00000000-0000-4000-8000-000000000001"
RUN_ID = "run-00000000-0000-4000-8000-000000000001"
RUN_PATH = f"/v1/agents/{AGENT_ID}/runs/{RUN_ID}"


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Response:
    """`cut` breaks the connection after the body; `hold` keeps it open until the server closes."""

    status: int = 200
    body: bytes = b""
    cut: bool = False
    hold: bool = False


Responder = Callable[[Request, int], Response]


def json_response(value: object, status: int = 200) -> Responder:
    return lambda request, count: Response(status, json.dumps(value).encode())


def error_response(status: int, code: str) -> Responder:
    return json_response({"error": {"code": code, "message": f"refused: {code}"}}, status)


def disconnect(request: Request, count: int) -> Response:
    return Response(0, cut=True)


def wire_run(**members: object) -> dict[str, object]:
    return {"id": RUN_ID, "agentId": AGENT_ID, "status": "RUNNING", "createdAt": "x", "updatedAt": "x", **members}


def frame(event: str, data: object, id: str | None = None) -> str:
    first = "" if id is None else f"id: {id}\n"
    return f"{first}event: {event}\ndata: {json.dumps(data)}\n\n"


class QuickClock(Clock):
    """Waiting takes no real time and advances this clock."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def now(self) -> float:
        return sum(self.waits)

    def wait(self, seconds: float, stop: StopSignal) -> None:
        stop.check()
        self.waits.append(seconds)


class ScriptedPlatform:
    """A responder gets the request, and how many requests to the same endpoint came before."""

    def __init__(self, responders: dict[str, Responder]) -> None:
        self.requests: list[Request] = []
        self.clock = QuickClock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, responders))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def client(self) -> Client:
        return Client(api_key="plt_test", base_url=self.url, clock=self.clock)

    def hold(self) -> None:
        self._closing.wait()

    def __enter__(self) -> ScriptedPlatform:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()


def _handler(platform: ScriptedPlatform, responders: dict[str, Responder]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _respond(self) -> None:
            path = self.path.partition("?")[0]
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, self.path, headers, json.loads(text) if text else None)
            earlier = [one for one in platform.requests if (one.method, one.path.partition("?")[0]) == (self.command, path)]
            platform.requests.append(request)
            respond = responders.get(f"{self.command} {path}", error_response(404, "not_found"))
            self._send(respond(request, len(earlier)))

        def _send(self, response: Response) -> None:
            if response.status:
                self.send_response(response.status)
                self.send_header("X-Request-ID", "req-1")
                # A body shorter than its Content-Length is a broken connection.
                self.send_header("Content-Length", str(len(response.body) + response.cut + response.hold))
                self.end_headers()
                self.wfile.write(response.body)
                self.wfile.flush()
            if response.hold:
                platform.hold()
            self.close_connection = True
            if response.cut:
                self.connection.shutdown(socket.SHUT_RDWR)

        do_GET = do_POST = do_DELETE = _respond

        def log_message(self, format: str, *args: Any) -> None:
            return

    return Handler
