"""The story that both SDKs tell, against a real platform."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from platform_sdk import PlatformSdkError
from stage import STORY, Stage
from storyteller import Storyteller, described


@pytest.fixture
def stage() -> Iterator[Stage]:
    place = Stage()
    yield place
    place.close()


def test_the_story_comes_out_as_it_is_written(stage: Stage) -> None:
    teller = Storyteller(stage)
    for number, step in enumerate(STORY["steps"], 1):
        about = f"step {number}: {step}"
        try:
            value, failure = teller.tell(step), None
        except PlatformSdkError as error:
            value, failure = None, described(error)
        assert_matches(failure, step.get("fails"), about)
        if "expect" in step:
            assert_matches(value, step["expect"], about)


def assert_matches(actual: Any, expected: Any, about: str) -> None:
    """Objects may have more members than the story names; lists are as they are written."""
    if isinstance(expected, dict):
        assert isinstance(actual, dict), f"{about}\n{actual}"
        for name, value in expected.items():
            assert_matches(actual.get(name), value, f"{about}\n{name} of {actual}")
    elif isinstance(expected, list):
        assert isinstance(actual, list) and len(actual) == len(expected), f"{about}\n{actual}"
        for one, other in zip(actual, expected):
            assert_matches(one, other, about)
    else:
        assert actual == expected, f"{about}\n{actual}"
