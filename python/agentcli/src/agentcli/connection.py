"""Matches responses to requests, routes notifications to their turns and passes on requests of the program."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from typing import Union

from .config import ClientConfig
from .errors import ClientError, ProtocolError, TransportClosedError, rpc_error, unexpected_value
from .notifications import Notification, read_notification, turn_id_of
from .server_requests import ServerRequests
from .server_process import ServerProcess
from .wire import Json

Message = Union[Notification, BaseException]
Sink = Callable[[Message], None]
"""Receives the notifications of one turn; an exception is always the last message."""


class Connection:
    """Safe to use from any thread. Futures are settled and sinks are called by the thread that reads."""

    def __init__(self, config: ClientConfig, server_requests: ServerRequests) -> None:
        self._server_requests = server_requests
        self._lock = threading.Lock()
        self._pending: dict[str, _Request] = {}
        self._sinks: dict[str, Sink] = {}
        self._starting_turns = 0
        self._early: dict[str, list[Notification]] = {}
        """Notifications that arrived before the response that names their turn."""
        self._compacting: dict[str, Sink] = {}
        self._ended: ClientError | None = None
        self._process = ServerProcess(config, self._on_message, self._on_end)

    def initialize(self, config: ClientConfig) -> Future[Json]:
        info = {"name": config.client_name, "title": config.client_title, "version": config.client_version}
        capabilities = {"experimentalApi": config.experimental_api}
        request = {"clientInfo": info, "capabilities": capabilities}
        return self.request("initialize", request, lambda _: self._process.send({"method": "initialized"}))

    def request(self, method: str, params: Json, on_result: Callable[[Json], None] | None = None) -> Future[Json]:
        """`on_result` runs before any later message of the program is processed."""
        request = _Request(on_result)
        request_id = str(uuid.uuid4())
        with self._lock:
            if self._ended:
                request.future.set_exception(self._ended)
                return request.future
            self._pending[request_id] = request
        self._process.send({"id": request_id, "method": method, "params": params})
        return request.future

    def start_turn(self, params: Json, sink: Sink) -> Future[Json]:
        with self._lock:
            self._starting_turns += 1
        future = self.request("turn/start", params, lambda result: self._attach(result["turn"]["id"], sink))
        future.add_done_callback(lambda _: self._turn_started())
        return future

    def start_compaction(self, thread_id: str, sink: Sink) -> Future[Json]:
        """The response does not name the turn that compacts: it is the next one that starts in the thread."""
        with self._lock:
            self._compacting[thread_id] = sink
        future = self.request("thread/compact/start", {"threadId": thread_id})
        future.add_done_callback(lambda response: self._forget(thread_id) if response.exception() else None)
        return future

    def close(self) -> None:
        with self._lock:
            self._ended = self._ended or TransportClosedError("The client was closed.")
        self._process.close()

    def _attach(self, turn_id: str, sink: Sink) -> None:
        with self._lock:
            self._sinks[turn_id] = sink
            early = self._early.pop(turn_id, [])
        for notification in early:
            sink(notification)

    def _turn_started(self) -> None:
        with self._lock:
            self._starting_turns -= 1
            if self._starting_turns == 0:
                self._early.clear()

    def _forget(self, thread_id: str) -> None:
        with self._lock:
            self._compacting.pop(thread_id, None)

    def _on_message(self, message: Json) -> None:
        if "method" not in message:
            self._on_response(message)
        elif "id" in message:
            self._on_request(message)
        else:
            self._on_notification(message["method"], message.get("params") or {})

    def _on_response(self, message: Json) -> None:
        with self._lock:
            request = self._pending.pop(str(message.get("id")), None)
        if request:
            request.settle(message)

    def _on_notification(self, method: str, params: Json) -> None:
        self._server_requests.record_changes(method, params)
        turn_id = turn_id_of(params)
        if turn_id is None:
            return
        with self._lock:
            if method == "turn/started" and params.get("threadId") in self._compacting:
                self._sinks[turn_id] = self._compacting.pop(params["threadId"])
            sink = self._sinks.get(turn_id)
            if sink and method == "turn/completed":
                del self._sinks[turn_id]
            if sink is None and self._starting_turns > 0:
                self._early.setdefault(turn_id, []).append(read_notification(method, params))
        if sink:
            try:
                sink(read_notification(method, params))
            except ProtocolError as error:
                self._fail(turn_id, error)

    def _on_request(self, message: Json) -> None:
        def respond(response: Json) -> None:
            self._process.send({"id": message["id"], **response})

        self._server_requests.handle(message["method"], message.get("params") or {}, respond, self._fail)

    def _fail(self, turn_id: str | None, error: BaseException) -> None:
        with self._lock:
            sink = self._sinks.pop(turn_id or "", None)
        if sink:
            sink(error)

    def _on_end(self, error: TransportClosedError) -> None:
        with self._lock:
            self._ended = self._ended or error
            pending, self._pending = self._pending, {}
            sinks = [*self._sinks.values(), *self._compacting.values()]
            self._sinks, self._compacting = {}, {}
        for request in pending.values():
            request.future.set_exception(self._ended)
        for sink in sinks:
            sink(self._ended)


class _Request:
    def __init__(self, on_result: Callable[[Json], None] | None) -> None:
        self.future: Future[Json] = Future()
        # A caller that stops waiting must not cancel the future: the response still arrives.
        self.future.set_running_or_notify_cancel()
        self._on_result = on_result

    def settle(self, message: Json) -> None:
        error = message.get("error")
        if error is not None:
            self.future.set_exception(rpc_error(error.get("code", 0), error.get("message", ""), error.get("data")))
            return
        result = message.get("result") or {}
        try:
            if self._on_result:
                self._on_result(result)
        except (KeyError, TypeError) as error_in_result:
            self.future.set_exception(unexpected_value(f"sent a response without {error_in_result}: {result!r}"))
            return
        self.future.set_result(result)
