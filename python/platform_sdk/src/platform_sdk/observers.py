"""Calls the observers of a run, whether or not the caller streams it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from .conversation import Conversation, InteractionUpdate
from .follow import FollowEvent
from .frame import Frame
from .options import SendOptions
from .stop_signal import StopSignal
from .wire import Json


class ObserverThread:
    """Follows a run in a thread of its own and calls `on_delta` and `on_step`."""

    def __init__(
        self, follow: Callable[[StopSignal], Iterator[FollowEvent]], stop: StopSignal, observers: SendOptions
    ) -> None:
        self._follow = follow
        self._stop = stop
        self._observers = observers
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._observe, daemon=True)
        self._thread.start()

    def join(self) -> None:
        self._thread.join()
        if self._error:
            raise self._error

    def _observe(self) -> None:
        conversation = Conversation()
        try:
            for event in self._follow(self._stop):
                if isinstance(event, Frame) and event.event == "interaction_update":
                    self._notify(event.data, conversation)
        except BaseException as error:
            self._error = error

    def _notify(self, update: Json, conversation: Conversation) -> None:
        if self._observers.on_delta:
            self._observers.on_delta(InteractionUpdate(update))
        for step in conversation.add(update):
            if self._observers.on_step:
                self._observers.on_step(step)
