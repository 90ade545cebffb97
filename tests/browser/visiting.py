"""A page of the book in the browser: and what it did there that it shouldn't."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PHONES = (360, 390)
DESKTOP = 1280

_WIDE = """
() => {
  const page = document.documentElement;
  if (page.scrollWidth <= page.clientWidth) return [];
  const scrolls = element => element.parentElement && element.parentElement !== document.body &&
    (getComputedStyle(element.parentElement).overflowX !== "visible" || scrolls(element.parentElement));
  const wide = [...document.querySelectorAll("main *")]
    .filter(each => each.getBoundingClientRect().right > page.clientWidth + 0.5 && !scrolls(each));
  const last = wide.at(-1);
  return [`${page.scrollWidth} pixels: ${last ? last.outerHTML.slice(0, 150) : "?"}`];
}
"""
# `checkVisibility` is false for an image of the other mode and in a closed answer
_BROKEN = """
async () => {
  const shown = [...document.images].filter(each => each.checkVisibility());
  for (const each of shown) each.loading = "eager";
  await Promise.all(shown.map(each => each.decode().catch(() => {})));
  return shown.filter(each => !each.naturalWidth).map(each => each.src);
}
"""
# A formula that moves sideways can't be read in one look; a wide table of numbers can.
_FORMULAS = """
() => [...document.querySelectorAll(".katex-display")]
  .filter(each => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
  .map(each => `${each.scrollWidth} pixels for ${each.clientWidth}: ` +
    each.querySelector("annotation").textContent.replace(/\\s+/g, " ").slice(0, 100))
"""
_SCROLLERS = """
() => [...document.querySelectorAll("main *")].filter(each => {
  const style = getComputedStyle(each);
  return each.checkVisibility() && ["auto", "scroll"].includes(style.overflowX)
    && each.scrollWidth > each.clientWidth + 1 && style.backgroundImage === "none";
}).map(each => each.outerHTML.slice(0, 120))
"""
# Focus shows if the outline, the shadow, the border or the ground changes. One of a kind stands for all.
_FOCUS = """
() => {
  const looks = element => {
    const style = getComputedStyle(element);
    const drawn = style.outlineStyle !== "none" && style.outlineWidth !== "0px";
    const outline = drawn ? style.outlineWidth + style.outlineColor : "";
    return [outline, style.boxShadow, style.borderColor, style.backgroundColor, style.textDecoration].join();
  };
  const seen = new Set();
  const mute = [];
  const all = "a[href], button, input, select, textarea, summary, [tabindex='0']";
  for (const element of document.querySelectorAll(all)) {
    const kind = [element.localName, element.type, element.className, element.parentElement.className].join();
    if (seen.has(kind) || element.disabled || !element.checkVisibility({visibilityProperty: true})) continue;
    seen.add(kind);
    const shown = element.matches("input.sd-tab-input") ? element.nextElementSibling : element;
    document.activeElement.blur();
    const before = looks(shown);
    element.focus({preventScroll: true, focusVisible: true});
    const mutely = document.activeElement === element && looks(shown) === before;
    if (mutely) mute.push(element.outerHTML.slice(0, 120));
  }
  document.activeElement.blur();
  return mute;
}
"""


@contextmanager
def opened(browser: Browser, url: str, **choices: object) -> Iterator[tuple[Page, list[str]]]:
    """Open a page; give it, and a list that fills with what it asks for elsewhere, misses or says."""
    offline = url.startswith("file:")
    home = url.partition("://")[0] + "://" + url.partition("://")[2].partition("/")[0]
    context = browser.new_context(offline=offline, reduced_motion="reduce", **choices)
    troubles: list[str] = []
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith((home, "data:")) else troubles.append(f"asks {request.url}")
        ),
    )
    page.on("requestfailed", lambda request: troubles.append(f"did not get {request.url}"))
    page.on(
        "response", lambda answer: None if answer.ok else troubles.append(f"{answer.status} {answer.url}")
    )
    page.on("pageerror", lambda error: troubles.append(f"a script failed: {error}"))
    page.on(
        "console",
        lambda said: troubles.append(f"says {said.text}") if said.type in {"error", "warning"} else None,
    )
    try:
        page.goto(url)
        page.evaluate("document.fonts.ready")  # until then other letters, of other widths, stand in
        yield page, troubles
    finally:
        context.close()


def layout_faults(page: Page) -> Iterator[str]:
    """Describe what doesn't fit a page that is open at a phone's width, and what can't be seen in it."""
    for width in PHONES:
        page.set_viewport_size({"width": width, "height": 844})
        yield from (f"scrolls sideways at {width}: {each}" for each in page.evaluate(_WIDE))
    yield from (f"a formula is wider than a phone: {each}" for each in page.evaluate(_FORMULAS))
    yield from (f"scrolls without a cue: {each}" for each in page.evaluate(_SCROLLERS))
    yield from (f"a broken image: {each}" for each in page.evaluate(_BROKEN))
    yield from (f"not typeset: {each}" for each in page.locator(".katex-error").all_inner_texts())


def focus_faults(page: Page) -> Iterator[str]:
    """Describe what takes the keyboard's focus and doesn't show it."""
    page.keyboard.press("Tab")  # from now on focus is the keyboard's
    yield from (f"focus does not show: {each}" for each in page.evaluate(_FOCUS))
