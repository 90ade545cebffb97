// A box that scrolls sideways takes the keyboard's focus, so that the arrow keys move it; one that fits does not.
(() => {
  const names = {
    "pre": "Code",
    ".katex-display": "Formula",
    ".pst-scrollable-table-container": "Table",
    ".cell_output .text_html": "Result",
  };
  const scrolls = (box) => box.scrollWidth > box.clientWidth + 1;
  const turn = (box) => {
    if (!box.toggleAttribute("tabindex")) return ["role", "aria-label"].forEach((name) => box.removeAttribute(name));
    const name = Object.keys(names).find((selector) => box.matches(selector));
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `${names[name]}, scrolls sideways`);
  };
  document.addEventListener("DOMContentLoaded", () => {
    const sizes = new ResizeObserver((changes) => {
      // all are measured before one is changed: a measure after a change makes the browser style the page anew
      const boxes = changes.map((change) => change.target);
      boxes.filter((box) => scrolls(box) !== box.hasAttribute("tabindex")).forEach(turn);
    });
    document.querySelectorAll(Object.keys(names).join()).forEach((box) => sizes.observe(box));
  });
})();
