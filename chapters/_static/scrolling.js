// A box that scrolls sideways takes the keyboard's focus, so that the arrow keys move it; one that fits does not.
(() => {
  const names = {
    "pre": "Code",
    ".katex-display": "Formula",
    ".pst-scrollable-table-container": "Table",
    ".cell_output .text_html": "Result",
  };
  const look = (box) => {
    const scrolls = box.scrollWidth > box.clientWidth + 1;
    if (scrolls === box.hasAttribute("tabindex")) return;
    box.toggleAttribute("tabindex", scrolls);
    if (!scrolls) return ["role", "aria-label"].forEach((name) => box.removeAttribute(name));
    const name = Object.keys(names).find((selector) => box.matches(selector));
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `${names[name]}, scrolls sideways`);
  };
  document.addEventListener("DOMContentLoaded", () => {
    const sizes = new ResizeObserver((changes) => changes.forEach((change) => look(change.target)));
    document.querySelectorAll(Object.keys(names).join()).forEach((box) => sizes.observe(box));
  });
})();
