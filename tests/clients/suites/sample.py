"""A pytest plugin: ``--every N`` runs every N-th of the selected tests, the same ones each time."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--every", type=int, default=1, help="run every N-th of the selected tests")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the others out."""
    items[:] = items[:: config.getoption("--every")]
