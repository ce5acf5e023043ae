"""A plugin of pytest for mutants.py: quick tests before those with thousands of inputs. A mutant is done with at the
first that fails."""

from __future__ import annotations

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: "property" in item.path.parts)
