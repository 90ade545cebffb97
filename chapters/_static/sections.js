// Sections below the first view are laid out one at a time, when a page has stood for a while: its first seconds
// are the reader's. Until then book.css lets the browser pass over them and lay out those that come into view.
// Who asks for a place in the page gets the whole of it at once. When all stand, the table of contents begins to
// follow the reader: before, that would lay out everything.
(() => {
  const quiet = 3000; // milliseconds
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
  const asks = (click) => click.target.closest("a[href^='#']") && root.classList.add("laid-out");
  document.addEventListener("click", asks, { capture: true });
  window.addEventListener("load", () => {
    const sections = [...document.querySelectorAll(".bd-article > section > section")];
    setTimeout(() => lay(sections), root.classList.contains("laid-out") ? 0 : quiet);
  });
})();
