class ExploreMasks extends Explorable {
  static look = `
    .pair { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; }
    .grid td { padding: 1px; border: 0; text-align: center; }
    .grid button { width: 44px; padding: 0; font-size: 0.85em; }
    .grid button[aria-pressed="false"] { border-style: dashed; }
    .grid button[aria-pressed="true"] { border-width: 1px; }
    .heard td { text-align: center; min-width: 2em; height: 44px; box-sizing: border-box; }
    .heard .later { background: var(--tint); }
  `;

  begin({ scores, masks, depth }, controls, stage) {
    this.scores = scores;
    this.masks = Object.fromEntries(Object.entries(masks).map(([name, rows]) => [name, rows.map(read)]));
    this.depth = depth;
    this.visible = copy(Object.values(this.masks)[0]);
    this.presets = buttons("mask", Object.keys(masks), (name) => {
      this.visible = copy(this.masks[name]);
      this.moved();
    });
    this.slider = slider("blocks", { min: 1, max: 6, step: 1 }, (value) => {
      this.depth = value;
      this.moved();
    });
    controls.append(this.presets, this.slider);
    this.cells = scores.map((row, t) => row.map((_, s) =>
      button("", () => this.toggle(t, s), { tabindex: t + s ? "-1" : "0" })));
    const grid = rowsOf("row: query t, column: key s", this.cells);
    grid.classList.add("grid");
    grid.onkeydown = (event) => this.press(event);
    this.marks = scores.map((row) => row.map(() => make("span")));
    this.heard = rowsOf("", this.marks);
    this.heard.classList.add("heard");
    this.list = make("dl");
    stage.append(make("div", { class: "pair" }, grid, this.heard),
      make("p", { class: "note" }, "In the first table, press a cell to let query t see key s or hide it; the number is its attention weight. " +
        "In the second: ■ seen, ● the token itself, ○ heard through other tokens, · not heard; tinted: from later tokens."),
      this.list);
  }

  toggle(t, s) {
    this.visible[t][s] = !this.visible[t][s];
    this.focusOn(t, s);
    this.last = `query ${t} ${this.visible[t][s] ? "sees" : "does not see"} key ${s}; `;
    this.moved();
  }

  press(event) {
    const [dt, ds] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
    if (!(dt || ds) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const t = this.cells.findIndex((row) => row.includes(event.target));
    const within = (i) => Math.min(Math.max(i, 0), this.scores.length - 1);
    this.focusOn(within(t + dt), within(this.cells[t].indexOf(event.target) + ds));
  }

  focusOn(t, s) {
    this.cells.flat().forEach((each) => { each.tabIndex = -1; });
    this.cells[t][s].tabIndex = 0;
    this.cells[t][s].focus();
  }

  draw() {
    const weights = attentionWeights(this.scores, this.visible);
    const heard = reachable(this.visible, this.depth);
    const cells = (table, keep) => table.flatMap((row, t) => row.filter((_, s) => keep(t, s)));
    const later = (t, s) => s > t;
    this.cells.forEach((row, t) => row.forEach((cell, s) => {
      const seen = this.visible[t][s];
      cell.textContent = seen ? decimals(weights[t][s], 2) : "·";
      cell.setAttribute("aria-pressed", String(seen));
      cell.setAttribute("aria-label", `query ${t} sees key ${s}: weight ${decimals(weights[t][s], 2)}`);
      const [mark, words] = sign(seen, t === s, heard[t][s]);
      this.marks[t][s].textContent = mark;
      this.marks[t][s].setAttribute("aria-label", words);
      this.marks[t][s].setAttribute("role", "img");
      this.marks[t][s].parentElement.className = heard[t][s] && later(t, s) ? "later" : "";
    }));
    const blocks = this.depth === 1 ? "1 block" : `${this.depth} blocks`;
    this.heard.caption.textContent = `after ${blocks}: row: output t, column: input s`;
    this.slider.set(this.depth, String(this.depth));
    this.presets.set(Object.keys(this.masks).find((name) => String(this.masks[name]) === String(this.visible)));
    const leaks = cells(heard, later).filter(Boolean).length;
    const future = cells(weights, later).reduce((a, b) => a + b, 0);
    const blind = weights.flatMap((row, t) => (row.some(Boolean) ? [] : [t]));
    const facts = [
      ["attention on later keys", `${decimals(future)}, summed over all queries`],
      ["hears a later input", `${leaks} of ${cells(heard, later).length} pairs, after ${blocks}`],
      ["queries that see nothing", blind.length ? `${blind.join(", ")}: attention gathers 0, the stream passes on` : "none"],
    ];
    describe(this.list, facts);
    const said = `${this.last ?? ""}${facts.map(([term, text]) => `${term}: ${text}`).join("; ")}`;
    this.last = "";
    return said;
  }
}

function read(row) {
  return [...row].map((each) => each === "1");
}

function copy(rows) {
  return rows.map((row) => [...row]);
}

function sign(seen, own, heard) {
  if (seen) return ["■", "seen"];
  if (own) return ["●", "itself"];
  return heard ? ["○", "through others"] : ["·", "not heard"];
}

function rowsOf(caption, cells) {
  const heads = cells.map((_, s) => make("th", { scope: "col" }, String(s)));
  return make("table", { class: "live" },
    make("caption", {}, caption),
    make("thead", {}, make("tr", {}, make("td"), ...heads)),
    make("tbody", {}, ...cells.map((row, t) =>
      make("tr", {}, make("th", { scope: "row" }, String(t)), ...row.map((cell) => make("td", {}, cell))))));
}

define("explore-masks", ExploreMasks);
