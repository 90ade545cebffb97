"""Explorables with known numbers, and how a test reads and presses what they show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from transformer_block.explore import explore_cost, explore_layer_norm, explore_masks, explore_placement

if TYPE_CHECKING:  # where it is not installed, the probe of "chromium" says so
    from playwright.sync_api import Locator, Page

TOKEN = [1.0, 2.0, 3.0, 4.0]
SCORES = np.random.default_rng(8).normal(size=(5, 5)).round(3)
ELEMENTS = {
    "layer-norm": explore_layer_norm(TOKEN),
    "masks": explore_masks(SCORES, n_layers=2),
    "placement": explore_placement(n_layers=12),
    "cost": explore_cost(),
}


def only(page: Page) -> Locator:
    return page.locator("[data-start]")


def says(element: Locator, term: str) -> str:
    """The text behind a term of the list of results."""
    return element.locator(f"dt:text-is('{term}') + dd").inner_text()


def numbers(text: str) -> list[float]:
    found = re.findall(r"[−-]?\d[\d,]*\.?\d*", text)
    return [float(each.replace("−", "-").replace(",", "")) for each in found]


def press(element: Locator, name: str, times: int = 1) -> None:
    for _ in range(times):
        element.get_by_role("button", name=name, exact=True).click()
