"""The scenario that both SDKs run, against a real platform."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from platform_sdk import PlatformSdkError
from platform_fixture import SCENARIO, PlatformFixture
from scenario_runner import ScenarioRunner, describe


@pytest.fixture
def platform() -> Iterator[PlatformFixture]:
    opened = PlatformFixture()
    yield opened
    opened.close()


def test_every_step_of_the_scenario_has_its_expected_result(platform: PlatformFixture) -> None:
    runner = ScenarioRunner(platform)
    for number, step in enumerate(SCENARIO["steps"], 1):
        context = f"step {number}: {step}"
        try:
            value, failure = runner.run(step), None
        except PlatformSdkError as error:
            value, failure = None, describe(error)
        assert_matches(failure, step.get("fails"), context)
        if "expect" in step:
            assert_matches(value, step["expect"], context)


def assert_matches(actual: Any, expected: Any, context: str) -> None:
    """Objects may have more members than expected; lists must be equal."""
    if isinstance(expected, dict):
        assert isinstance(actual, dict), f"{context}\n{actual}"
        for name, value in expected.items():
            assert_matches(actual.get(name), value, f"{context}\n{name} of {actual}")
    elif isinstance(expected, list):
        assert isinstance(actual, list) and len(actual) == len(expected), f"{context}\n{actual}"
        for one, other in zip(actual, expected):
            assert_matches(one, other, context)
    else:
        assert actual == expected, f"{context}\n{actual}"
