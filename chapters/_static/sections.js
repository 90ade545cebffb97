// Sections below the first view are laid out after it stands, one at a time, when nothing else is to be done.
// Until then book.css lets the browser pass over them; who comes for a place in one of them gets the whole page.
// When all stand, the table of contents begins to follow the reader: before, that would lay out all at once.
(() => {
  const root = document.documentElement;
  const soon = window.requestIdleCallback ?? ((next) => setTimeout(next, 20));
  const lay = ([first, ...others]) => {
    if (first) {
      first.classList.add("laid-out");
      return soon(() => lay(others), { timeout: 200 });
    }
    root.classList.add("laid-out");
    if (!document.querySelector("#pst-page-toc-nav")) return;
    bootstrap.ScrollSpy.getOrCreateInstance(document.body, { target: "#pst-page-toc-nav", rootMargin: "0px 0px -60%" });
  };
  if (location.hash) root.classList.add("laid-out");
  window.addEventListener("load", () => lay([...document.querySelectorAll(".bd-article > section > section")]));
})();
