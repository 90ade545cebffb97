// A walk through a block, one stage at a time, drawn from the table inside the element:
// the table is all the data there is, and what is left where no script runs.

const STYLE = `
  :host { display: block; margin: 0.5em 0; font: inherit; color: inherit; --line: color-mix(in srgb, currentColor 40%, transparent);
    --stream: color-mix(in srgb, #0b62a4 65%, currentColor); --attention: color-mix(in srgb, #c24e00 65%, currentColor);
    --feed_forward: color-mix(in srgb, #00795a 65%, currentColor); --norm: color-mix(in srgb, #8a3c96 65%, currentColor);
    --other: currentColor; }
  .walk { border: 1px solid var(--line); border-radius: 6px; padding: 0.75rem; max-width: 40rem; box-sizing: border-box; }
  .title, .name, .key { margin: 0 0 0.5rem; }
  .title { font-weight: 600; }
  .controls { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; margin-bottom: 0.75rem; }
  button, select { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line);
    border-radius: 4px; min-width: 44px; min-height: 44px; padding: 0.25rem 0.6rem; cursor: pointer; }
  option { color: CanvasText; background: Canvas; }
  button[aria-disabled="true"] { border-style: dashed; cursor: default; }
  .tokens { flex: 1 0 100%; }
  input { flex: 1 1 6rem; min-width: 0; min-height: 44px; margin: 0; color: inherit; accent-color: var(--stream);
    cursor: pointer; }
  :focus-visible { outline: 3px solid currentColor; outline-offset: 2px; }
  .stage { touch-action: pan-y; }
  .name strong { font-size: 1.15em; color: var(--color); }
  .bars { display: flex; height: 7rem; border-bottom: 0; }
  .bar { position: relative; flex: 1 1 0; min-width: 0; max-width: 7rem;
    background: linear-gradient(var(--line), var(--line)) center / 100% 1px no-repeat; }
  .bar i { position: absolute; box-sizing: border-box; transition: top 0.25s, height 0.25s; }
  .after { left: 22%; right: 22%; background: var(--color); }
  .before { left: 10%; right: 10%; border: 2px dashed currentColor; }
  .key { font-size: 0.9em; }
  dl { display: grid; grid-template-columns: minmax(0, 6.5em) minmax(0, 1fr); gap: 0.35rem 0.75rem; margin: 0 0 0.75rem; }
  dt { font-weight: 600; }
  dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
  .spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  .table { display: none; overflow-x: auto; }
  .walk.open + .table { display: block; }
  @media (max-width: 30rem) { dl { grid-template-columns: minmax(0, 1fr); gap: 0 } dd { margin-bottom: 0.5rem } }
  @media (prefers-reduced-motion: reduce) { .bar i { transition: none } }
  @media print { .walk { display: none } .table { display: block } }
`;

const FRAME = `
  <section class="walk" role="group">
    <p class="title"></p>
    <div class="controls">
      <label class="tokens">token <select></select></label>
      <button class="back" aria-label="one stage back">◀</button>
      <input type="range" min="0" value="0" step="1" aria-label="stage">
      <button class="on" aria-label="one stage on">▶</button>
    </div>
    <div class="stage">
      <p class="name"><strong></strong> <span></span></p>
      <div class="bars" role="img"></div>
      <p class="key"></p>
      <dl></dl>
    </div>
    <p class="spoken" aria-live="polite"></p>
    <button class="all" aria-expanded="false">all stages as a table</button>
  </section>
  <div class="table"><slot></slot></div>
`;

const SWIPE = 40; // so many pixels sideways are a swipe, fewer a tap

class BlockStepper extends HTMLElement {
  connectedCallback() {
    if (this.shadowRoot) return; // moved on the page, not new
    if (this.querySelector("table")) this.build();
    else document.addEventListener("DOMContentLoaded", () => this.build(), { once: true });
  }

  build() {
    const table = this.querySelector("table");
    if (!table || this.shadowRoot) return;
    this.headings = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    this.walks = [...table.tBodies].map(read);
    this.walk = 0;
    this.at = 0;
    this.dataset.lmSuppressShortcuts = "true"; // JupyterLab's keys are not for a control inside
    const root = this.attachShadow({ mode: "open" });
    root.innerHTML = `<style>${STYLE}</style>${FRAME}`;
    this.find = (selector) => root.querySelector(selector);
    const title = table.caption.textContent;
    this.find(".title").textContent = title;
    this.find(".walk").setAttribute("aria-label", title);
    for (const { token } of this.walks) this.find("select").add(new Option(token));
    this.find(".tokens").hidden = this.walks.length < 2;
    this.listen();
    this.draw();
  }

  listen() {
    const range = this.find("input");
    this.find(".back").onclick = () => this.go(this.at - 1);
    this.find(".on").onclick = () => this.go(this.at + 1);
    range.oninput = () => this.go(Number(range.value));
    this.find("select").onchange = (event) => {
      this.walk = event.target.selectedIndex;
      this.go(this.at);
    };
    this.find(".walk").onkeydown = (event) => this.press(event);
    this.find(".all").onclick = ({ target }) => {
      target.setAttribute("aria-expanded", String(this.find(".walk").classList.toggle("open")));
    };
    let start = null;
    const stage = this.find(".stage");
    stage.onpointerdown = (event) => { start = event.pointerType === "mouse" ? null : event; };
    stage.onpointercancel = () => { start = null; };
    stage.onpointerup = (event) => {
      if (!start) return;
      const across = event.clientX - start.clientX;
      const along = Math.abs(event.clientY - start.clientY);
      start = null;
      if (Math.abs(across) > Math.max(SWIPE, along)) this.go(this.at - Math.sign(across));
    };
  }

  press(event) {
    if (event.target.tagName === "SELECT" || event.altKey || event.ctrlKey || event.metaKey) return;
    const last = this.steps.length - 1;
    const to = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation(); // JupyterLab and the page have arrow keys of their own
    this.go(to);
  }

  get steps() {
    return this.walks[this.walk].steps;
  }

  go(to) {
    this.at = Math.min(Math.max(to, 0), this.steps.length - 1);
    this.draw();
    const { name, result } = this.steps[this.at];
    this.find(".spoken").textContent = `${this.place()}: ${name} ${result}`;
  }

  place() {
    return `stage ${this.at + 1} of ${this.steps.length}`;
  }

  draw() {
    const step = this.steps[this.at];
    const last = this.steps.length - 1;
    const range = this.find("input");
    this.find(".stage").style.setProperty("--color", `var(--${step.kind}, currentColor)`);
    range.max = last;
    range.value = this.at;
    range.setAttribute("aria-valuetext", `${this.place()}: ${step.name}`);
    this.find(".back").setAttribute("aria-disabled", String(this.at === 0));
    this.find(".on").setAttribute("aria-disabled", String(this.at === last));
    this.find(".name strong").textContent = step.name;
    this.find(".name span").textContent = this.place();
    this.find(".key").textContent = step.before ? `filled: ${step.name}, dashed: ${step.from}` : `filled: ${step.name}`;
    this.drawBars(step);
    const list = this.find("dl");
    list.replaceChildren();
    step.cells.forEach((cell, i) => {
      if (!cell.textContent) return;
      const term = document.createElement("dt");
      term.textContent = this.headings[i + 1];
      const description = document.createElement("dd");
      description.append(...[...cell.childNodes].map((node) => node.cloneNode(true)));
      list.append(term, description);
    });
  }

  drawBars(step) {
    const all = this.steps.flatMap(({ after, before }) => [...after, ...(before ?? [])]);
    const furthest = Math.max(...all.map(Math.abs).filter(Number.isFinite), 1e-9);
    const bars = this.find(".bars");
    bars.setAttribute("aria-label", `bars of ${step.name}: ${step.result}`);
    if (bars.childElementCount !== step.after.length) {
      bars.replaceChildren(...step.after.map(() => {
        const bar = document.createElement("div");
        bar.className = "bar";
        bar.innerHTML = '<i class="after"></i><i class="before"></i>';
        return bar;
      }));
    }
    step.after.forEach((value, i) => {
      const [after, before] = bars.children[i].children;
      place(after, value / furthest);
      before.hidden = !step.before || step.before.length !== step.after.length;
      if (!before.hidden) place(before, step.before[i] / furthest);
    });
  }
}

function read(body) {
  const steps = [...body.rows].filter((row) => row.dataset.kind).map((row) => {
    const [head, ...cells] = row.cells;
    const result = cells[1].textContent;
    const before = row.dataset.before ? numbers(row.dataset.before) : null;
    const from = cells[0].firstChild ? cells[0].firstChild.textContent.replace(/ \[.*/, "") : "";
    return { name: head.textContent, kind: row.dataset.kind, cells, result, after: numbers(result), before, from };
  });
  return { token: body.dataset.token, steps };
}

function numbers(text) {
  return text.replace(/, … .*/, "").replace(/[[\]]/g, "").replaceAll("−", "-").split(", ").map(Number);
}

function place(bar, share) {
  const height = Number.isFinite(share) ? 50 * Math.abs(share) : 0;
  bar.style.height = `${height}%`;
  bar.style.top = `${share > 0 ? 50 - height : 50}%`;
}

if (!customElements.get("block-stepper")) customElements.define("block-stepper", BlockStepper);
