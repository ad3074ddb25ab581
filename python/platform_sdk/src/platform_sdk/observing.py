"""Those who want to be told of all that happens in a run, whether or not anybody streams it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from .conversation import Conversation, InteractionUpdate
from .follow import Followed
from .frame import Frame
from .options import SendOptions
from .surroundings import Stop
from .wire import Json


class Observing:
    """Tells observers of all that happens, in a thread of its own."""

    def __init__(
        self, follow: Callable[[Stop], Iterator[Followed]], stop: Stop, observers: SendOptions
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
            for followed in self._follow(self._stop):
                if isinstance(followed, Frame) and followed.event == "interaction_update":
                    self._tell(followed.data, conversation)
        except BaseException as error:
            self._error = error

    def _tell(self, update: Json, conversation: Conversation) -> None:
        if self._observers.on_delta:
            self._observers.on_delta(InteractionUpdate(update))
        for step in conversation.add(update):
            if self._observers.on_step:
                self._observers.on_step(step)
