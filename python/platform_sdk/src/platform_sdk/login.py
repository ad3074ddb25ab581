"""A login that was kept with `Platform.auth.login` of the TypeScript SDK: the key of calls that name none."""

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
    """The key is sent to this platform and to no other."""
    api_key: str


def read_login() -> Login | None:
    """None where nobody is logged in: there is no file, it is not ours, or its key is too old."""
    home = os.environ.get("PLATFORM_SDK_HOME") or os.path.expanduser("~/.platform/sdk")
    try:
        kept = json.loads(Path(home, "auth.json").read_text())
    except (FileNotFoundError, ValueError):
        return None
    if not isinstance(kept, Mapping) or kept.get("version") != 1:
        return None
    base_url, api_key, expires_at_ms = kept.get("backendUrl"), kept.get("apiKey"), kept.get("apiKeyExpiresAtMs")
    if isinstance(expires_at_ms, (int, float)) and expires_at_ms <= time.time() * 1000:
        return None
    return Login(base_url, api_key) if isinstance(base_url, str) and isinstance(api_key, str) else None
