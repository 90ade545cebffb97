"""axe-core on an open page: what it finds, a line each.

Its rules about color take most of its time, one text after the other, though texts are of a few kinds. So
they look at one text of each kind: same element, ink, size, weight and ground. The other rules look at all.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

OF_COLOR = ["color-contrast", "link-in-text-block"]

# Tokens of code and pieces of formulas are most of the elements. After the first of a kind, a token becomes
# plain text in its place; a formula becomes an empty box of its size, its MathML stays.
_THIN_OUT = """
() => {
  const seen = new Set();
  const again = [...document.querySelectorAll("pre span:not(:has(*)):not([id])")].filter(token => {
    const {color, backgroundColor} = getComputedStyle(token);
    const kind = [color, backgroundColor, token.className].join();
    return seen.has(kind) || !seen.add(kind);
  });
  const formulas = [...document.querySelectorAll(".katex-html")].slice(1);
  const sizes = formulas.map(formula => formula.getBoundingClientRect());
  for (const token of again) token.replaceWith(...token.childNodes);
  formulas.forEach((formula, place) => {
    const {width, height} = sizes[place];
    formula.replaceChildren();
    formula.style.cssText = `display: inline-block; width: ${width}px; height: ${height}px`;
  });
}
"""
_MARK_NEW_KINDS = """
known => {
  const grounds = new Map();
  const ground = element => {
    if (!element) return "";
    if (!grounds.has(element)) {
      const {backgroundColor, backgroundImage, opacity} = getComputedStyle(element);
      const own = [backgroundColor, backgroundImage, opacity].join(" ");
      const covers = backgroundColor.startsWith("rgb(") && opacity === "1";
      const clear = own === "rgba(0, 0, 0, 0) none 1";
      const below = covers ? "" : ground(element.parentElement);
      grounds.set(element, clear ? below : `${own} / ${below}`);
    }
    return grounds.get(element);
  };
  const seen = new Set(known);
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    element.removeAttribute("data-new-kind");
    if (![...element.childNodes].some(child => child.nodeType === 3 && child.data.trim())) continue;
    if (!element.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
    const {color, fontSize, fontWeight, textDecorationLine} = getComputedStyle(element);
    const around = element.localName === "a" ? getComputedStyle(element.parentElement).color : "";
    const ink = [element.localName, color, fontSize, fontWeight, textDecorationLine, around];
    const kind = [...ink, ground(element)].join(" ");
    if (seen.has(kind)) continue;
    seen.add(kind);
    found.push(kind);
    element.setAttribute("data-new-kind", "");
  }
  return found;
}
"""
_RUN = """
async ([where, rules, without]) => {
  const options = {resultTypes: ["violations"], preload: false, elementRef: false};
  if (rules.length) options.runOnly = {type: "rule", values: rules};
  options.rules = Object.fromEntries(without.map(rule => [rule, {enabled: false}]));
  return (await axe.run({include: [[where]]}, options)).violations;
}
"""


@functools.cache
def _source() -> str:
    spec = find_spec("axe_playwright_python")  # the package that carries axe-core: read, and not imported
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def load(page: Page) -> None:
    """Put axe-core into a page, and make the page quick to look at."""
    page.evaluate(_THIN_OUT)
    page.evaluate(_source())


def violations(page: Page) -> list[str]:
    """Describe what breaks a rule that is not about color."""
    return list(_lines(page.evaluate(_RUN, ["html", [], OF_COLOR])))


def color_violations(page: Page, known: set[str]) -> list[str]:
    """Describe what breaks a rule about color, among texts of a kind that is not known; then they are."""
    new = page.evaluate(_MARK_NEW_KINDS, sorted(known))
    if not new:
        return []
    known.update(new)
    return list(_lines(page.evaluate(_RUN, ["[data-new-kind]", OF_COLOR, []])))


def _lines(found: list[dict[str, Any]]) -> Iterator[str]:
    for violation in found:
        for node in violation["nodes"]:
            why = " ".join(node["failureSummary"].split())
            yield f"axe: {violation['id']}: {node['target'][-1]}: {node['html'][:120]}: {why[:300]}"
