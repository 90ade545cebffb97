// What all explorables share: frame and look, controls by name, bars, and how a number is written and said.
// The table inside the element is what is left where no script runs; data-start is what the page begins with.

const STYLE = `
  :host { display: block; margin: 0.5em 0; font: inherit; color: inherit;
    --line: color-mix(in srgb, currentColor 40%, transparent);
    --tint: color-mix(in srgb, var(--color) 22%, transparent);
    --color: color-mix(in srgb, #0b62a4 65%, currentColor); }
  .frame { border: 1px solid var(--line); border-radius: 6px; padding: 0.75rem; max-width: 40rem; box-sizing: border-box; }
  .title, .note { margin: 0 0 0.5rem; }
  .title { font-weight: 600; }
  .note { font-size: 0.9em; }
  .row { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; margin: 0 0 0.5rem; }
  .slider { display: grid; grid-template-columns: minmax(5.5em, auto) minmax(0, 1fr) minmax(4.5em, auto); gap: 0.5rem;
    align-items: center; }
  .slider output { text-align: right; font-variant-numeric: tabular-nums; }
  button, select { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line);
    border-radius: 4px; min-width: 44px; min-height: 44px; padding: 0.25rem 0.6rem; cursor: pointer; }
  button[aria-pressed="true"] { background: var(--tint); border: 2px solid currentColor; font-weight: 600; }
  option { color: CanvasText; background: Canvas; }
  input[type="range"] { width: 100%; min-width: 0; min-height: 44px; margin: 0; accent-color: var(--color); cursor: pointer; }
  :focus-visible { outline: 3px solid currentColor; outline-offset: 2px; }
  .bars { display: flex; height: 6.5rem; margin-bottom: 0.25rem; }
  .bar { position: relative; flex: 1 1 0; min-width: 0; max-width: 5rem; }
  .bar i { position: absolute; box-sizing: border-box; transition: top 0.2s, height 0.2s; }
  .bar .now { left: 22%; right: 22%; background: var(--color); }
  .bar .was { left: 10%; right: 10%; border: 2px dashed currentColor; }
  dl { display: grid; grid-template-columns: minmax(0, 10em) minmax(0, 1fr); gap: 0.35rem 0.75rem; margin: 0.5rem 0 0.75rem; }
  dt { font-weight: 600; }
  dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
  table.live { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 0 0 0.5rem; }
  .live caption { text-align: left; font-size: 0.9em; padding-bottom: 0.25rem; }
  .live th { font-weight: 600; }
  .live :is(td, th) { padding: 0.2rem 0.4rem; border-bottom: 1px solid var(--line); text-align: right; }
  .live :is(td, th):first-child { text-align: left; }
  .spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  .table { display: none; overflow-x: auto; }
  .frame.open + .table { display: block; }
  @media (max-width: 30rem) { dl { grid-template-columns: minmax(0, 1fr); gap: 0 } dd { margin-bottom: 0.5rem } }
  @media (prefers-reduced-motion: reduce) { .bar i { transition: none } }
  @media print { .frame { display: none } .table { display: block } }
`;

const FRAME = `
  <section class="frame" role="group">
    <p class="title"></p>
    <div class="controls"></div>
    <div class="stage"></div>
    <p class="spoken" aria-live="polite"></p>
    <button class="all" aria-expanded="false">worked examples as a table</button>
  </section>
  <div class="table"><slot></slot></div>
`;

const PAUSE = 400; // milliseconds of rest after which a result is said, so that a drag is not recited

class Explorable extends HTMLElement {
  connectedCallback() {
    if (this.shadowRoot) return; // moved on the page, not new
    if (this.querySelector("table")) this.build();
    else document.addEventListener("DOMContentLoaded", () => this.build(), { once: true });
  }

  build() {
    const table = this.querySelector("table");
    if (!table || this.shadowRoot) return;
    this.dataset.lmSuppressShortcuts = "true"; // JupyterLab's keys are not for a control inside
    const root = this.attachShadow({ mode: "open" });
    root.innerHTML = `<style>${STYLE}${this.constructor.look ?? ""}</style>${FRAME}`;
    this.find = (selector) => root.querySelector(selector);
    const title = table.caption.textContent;
    this.find(".title").textContent = title;
    this.find(".frame").setAttribute("aria-label", title);
    this.find(".all").onclick = ({ target }) => {
      target.setAttribute("aria-expanded", String(this.find(".frame").classList.toggle("open")));
    };
    this.begin(JSON.parse(this.dataset.start), this.find(".controls"), this.find(".stage"));
    this.draw();
  }

  // After each move: draw, and say the result once the hand rests.
  moved() {
    const said = this.draw();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.find(".spoken").textContent = said; }, PAUSE);
  }
}

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function button(text, act, attributes = {}) {
  const node = make("button", { type: "button", ...attributes }, text);
  node.onclick = act;
  return node;
}

// A slider with its name before it and its value behind it; set(value, text) moves it from outside.
function slider(name, range, act) {
  const input = make("input", { type: "range", "aria-label": name, ...range });
  const shown = make("output", { "aria-hidden": "true" });
  const row = make("div", { class: "slider" }, make("span", {}, name), input, shown);
  input.oninput = () => act(Number(input.value));
  row.set = (value, text) => {
    input.value = value;
    shown.textContent = text;
    input.setAttribute("aria-valuetext", text);
  };
  row.input = input;
  return row;
}

function choice(name, options, act) {
  const select = make("select", {}, ...options.map((each) => make("option", {}, each)));
  select.onchange = () => act(select.value);
  const label = make("label", {}, `${name} `, select);
  label.set = (value) => { select.value = value; };
  return label;
}

// Buttons of which at most one is pressed in: set(name) says which.
function buttons(name, options, act) {
  const row = make("div", { class: "row", role: "group", "aria-label": name });
  row.append(...options.map((each) => button(each, () => act(each), { "aria-pressed": "false" })));
  row.set = (chosen) => {
    [...row.children].forEach((each) => each.setAttribute("aria-pressed", String(each.textContent === chosen)));
  };
  return row;
}

// Bars for values, dashed outlines for what was; low is what the lower edge stands for, 0 or −high.
function drawBars(bars, now, was, low, high, words) {
  bars.setAttribute("aria-label", words);
  if (bars.childElementCount !== now.length) {
    bars.replaceChildren(...now.map(() => make("div", { class: "bar" }, make("i", { class: "now" }), make("i", { class: "was" }))));
  }
  const zero = (100 * high) / (high - low);
  const line = "linear-gradient(var(--line), var(--line))";
  const put = (bar, value) => {
    const height = (100 * Math.min(Math.abs(value), high)) / (high - low);
    bar.style.height = `${height}%`;
    bar.style.top = `${value > 0 ? zero - height : zero}%`;
  };
  now.forEach((value, i) => {
    const bar = bars.children[i];
    bar.style.background = `${line} 0 ${zero}% / 100% 1px no-repeat`;
    put(bar.children[0], value);
    bar.children[1].hidden = !was || was.length !== now.length || was[i] === value;
    if (!bar.children[1].hidden) put(bar.children[1], was[i]);
  });
}

function describe(list, pairs) {
  list.replaceChildren(...pairs.flatMap(([term, text]) => [make("dt", {}, term), make("dd", {}, text)]));
}

function decimals(value, places = 3) {
  const text = value.toFixed(places);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

function vector(values, places = 3) {
  return `[${values.map((each) => decimals(each, places)).join(", ")}]`;
}

function define(name, kind) {
  if (!customElements.get(name)) customElements.define(name, kind);
}
