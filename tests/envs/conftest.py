"""Every registered environment; a test that takes `env_id` runs for all of them."""

import pytest

from vigym.envs.registration import ENVIRONMENTS


@pytest.fixture(params=list(ENVIRONMENTS))
def env_id(request: pytest.FixtureRequest) -> str:
    return request.param
