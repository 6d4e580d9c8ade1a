"""One emulator and one deployment for all packaged tests. They talk to 127.0.0.1 and to nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.packaged.deployment import Deployment, deploy
from tests.packaged.emulator import Emulator, running_emulator

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """A running emulator that enforces IAM."""
    with running_emulator(tmp_path_factory.mktemp("emulator")) as running:
        yield running


@pytest.fixture(scope="session")
def deployment(emulator: Emulator) -> Deployment:
    """The built template, deployed."""
    return deploy(emulator)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put last what leaves a policy in force, by which whatever is grave would be reviewed in other tests, too."""
    items.sort(key=lambda item: item.path.name == "test_deployed_reviews.py")
