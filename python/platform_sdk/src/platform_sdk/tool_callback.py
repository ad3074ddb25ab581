"""A loopback server through which the bridge calls custom tools. Every call needs its token."""

from __future__ import annotations

import asyncio
import hmac
import inspect
import json
import secrets
import threading
import uuid
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .options import CustomTool, CustomToolContext
from .wire import Json

_MAX_CALL_BYTES = 64 * 1024 * 1024


class ToolCallback:
    """Starts with the first offer. Each offer has its own URL, because tool names may repeat."""

    def __init__(self) -> None:
        self._offers: dict[str, Mapping[str, CustomTool]] = {}
        self._token = secrets.token_urlsafe(32)
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None

    def offer(self, tools: Mapping[str, CustomTool]) -> tuple[str, Json]:
        """Returns the name of the offer, and the URL and token for the bridge."""
        name = str(uuid.uuid4())
        with self._lock:
            if self._server is None:
                self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self._token, self._offers))
                self._server.daemon_threads = True
                threading.Thread(target=self._server.serve_forever, name="platform_sdk tools", daemon=True).start()
            self._offers[name] = tools
            url = f"http://127.0.0.1:{self._server.server_port}/{name}"
        return name, {"url": url, "token": self._token}

    def withdraw(self, name: str) -> None:
        self._offers.pop(name, None)

    def close(self) -> None:
        with self._lock:
            server, self._server = self._server, None
        if server:
            server.shutdown()
            server.server_close()


def describe(tools: Mapping[str, CustomTool]) -> Json:
    return {name: _description(tool) for name, tool in tools.items()}


def _description(tool: CustomTool) -> Json:
    members = {
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": tool.annotations,
    }
    return {name: value for name, value in members.items() if value is not None}


def _execute(tool: CustomTool, args: dict[str, Any], context: CustomToolContext) -> object:
    result = tool.execute(args, context) if _takes_context(tool.execute) else tool.execute(args)
    return asyncio.run(_result_of(result)) if inspect.isawaitable(result) else result


def _takes_context(execute: Callable[..., object]) -> bool:
    """Whether it accepts a second argument."""
    try:
        inspect.signature(execute).bind({}, None)
    except (TypeError, ValueError):
        return False
    return True


async def _result_of(result: Any) -> object:
    return await result


def _handler(token: str, offers: Mapping[str, Mapping[str, CustomTool]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            authorization = (self.headers.get("Authorization") or "").encode()
            length = int(self.headers.get("Content-Length") or 0)
            if not hmac.compare_digest(authorization, f"Bearer {token}".encode()):
                return self._respond(401, _failure("Invalid token."))
            if length > _MAX_CALL_BYTES:
                return self._respond(413, _failure(f"The call is larger than {_MAX_CALL_BYTES} bytes."))
            try:
                call = json.loads(self.rfile.read(length))
                tool = offers.get(self.path[1:], {}).get(call["name"])
                if tool is None:
                    return self._respond(404, _failure(f"The tool {call['name']} is not available."))
                result = _execute(tool, call.get("args") or {}, CustomToolContext(call.get("toolCallId")))
                response = json.dumps({"result": result}).encode()
            except Exception as error:  # The model sees every failure, and the agent continues.
                return self._respond(500, _failure(str(error) or type(error).__name__))
            self._respond(200, response)

        def _respond(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            return

    return Handler


def _failure(message: str) -> bytes:
    return json.dumps({"error": {"message": message}}).encode()
