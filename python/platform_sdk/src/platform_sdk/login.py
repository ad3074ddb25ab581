"""The login saved by `Platform.auth.login` of the TypeScript SDK, used by calls without a key."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Login:
    base_url: str
    """The key is sent to this platform only."""
    api_key: str


def read_login() -> Login | None:
    """None if not logged in: the file is missing or of another version, or the key has expired."""
    home = os.environ.get("PLATFORM_SDK_HOME") or os.path.expanduser("~/.platform/sdk")
    try:
        saved = json.loads(Path(home, "auth.json").read_text())
    except (FileNotFoundError, ValueError):
        return None
    if not isinstance(saved, Mapping) or saved.get("version") != 1:
        return None
    base_url, api_key, expires_at_ms = saved.get("backendUrl"), saved.get("apiKey"), saved.get("apiKeyExpiresAtMs")
    if isinstance(expires_at_ms, (int, float)) and expires_at_ms <= time.time() * 1000:
        return None
    return Login(base_url, api_key) if isinstance(base_url, str) and isinstance(api_key, str) else None
