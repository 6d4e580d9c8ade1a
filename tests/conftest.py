"""What every test starts from: no outside world, and the same one each time.

- The environment holds fake AWS credentials and no setting of ours; a test that needs one sets it with monkeypatch.
- Sockets are off (pytest-socket). A test that serves HTTP on this machine is marked
  ``@pytest.mark.allow_hosts(["127.0.0.1"])`` and reaches that address and no other.
- Hypothesis runs the profile ``dev`` (few examples) or the one HYPOTHESIS_PROFILE names; ``ci`` runs the same ones each
  time, ``nightly`` many. No deadline: how fast a machine is says nothing about the code.
- Tests marked ``long`` are begun first, so that no worker still has one when the others have done everything else.

All of it happens on import, before any module of ours is collected, because handlers read settings when imported.
"""

import os
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

FOREIGN = ("AWS_", "POLICY_", "POWERTOOLS_", "PROVENLOOP_")
FAKE_AWS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}

for name in [name for name in os.environ if name.startswith(FOREIGN)]:
    del os.environ[name]
os.environ.update(FAKE_AWS)

settings.register_profile("dev", max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("dev"), max_examples=15, derandomize=True)
settings.register_profile("nightly", parent=settings.get_profile("dev"), max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

#: Of these folders a machine that is too slow for all tests runs a share, another one for each commit.
SHARED_OUT = ("contract", "functions", "parity", "precision", "recipes_bench", "reflection", "scenario", "template")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put long tests first, and keep the share that ``--share k/n`` names: the tests whose name falls on k of n."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
    share = config.getoption("--share")
    if share is None:
        return
    kept, parts = (int(number) for number in share.split("/"))
    left_out = {item for item in items if not _is_in_share(item, kept, parts)}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def _is_in_share(item: pytest.Item, kept: int, parts: int) -> bool:
    folder = item.nodeid.split("/")[1] if "/" in item.nodeid else ""
    return folder not in SHARED_OUT or crc32(item.nodeid.encode()) % parts == kept % parts


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option ``--share``."""
    parser.addoption("--share", help="run of the slow folders only part k of n, written k/n")
