class ExplorePlacement extends Explorable {
  begin({ sizes, eps, seed, depth }, controls, stage) {
    Object.assign(this, { sizes, eps, seed, depth, placement: "pre", gain: 1, was: null });
    this.names = { "pre-norm": "pre", "post-norm": "post", sandwich: "sandwich" };
    this.buttons = buttons("placement", Object.keys(this.names), (name) => this.put({ placement: this.names[name] }));
    this.depths = slider("blocks", { min: 1, max: 32, step: 1 }, (value) => this.put({ depth: value }));
    this.gains = slider("matrices ×", { min: 0, max: GAINS.length - 1, step: 1 }, (i) => this.put({ gain: GAINS[i] }));
    controls.append(this.buttons, this.depths, this.gains,
      make("div", { class: "row" }, button("draw other weights", () => this.put({ seed: this.seed + 1 }))));
    this.bars = make("div", { class: "bars", role: "img" });
    this.key = make("p", { class: "note" });
    this.list = make("dl");
    stage.append(this.bars, this.key, this.list);
  }

  put(changed) {
    this.was = this.now;
    Object.assign(this, changed);
    this.moved();
  }

  draw() {
    const stack = drawnStack({ ...this.sizes, depth: this.depth, seed: this.seed, gain: this.gain });
    const found = streams(this.placement, stack, this.sizes.heads, this.eps);
    this.now = found.map(spread);
    const last = this.now.at(-1);
    const highest = Math.max(...this.now, ...(this.was ?? []));
    const name = Object.keys(this.names).find((each) => this.names[each] === this.placement);
    this.buttons.set(name);
    this.depths.set(this.depth, String(this.depth));
    this.gains.set(GAINS.indexOf(this.gain), String(this.gain));
    const words = `spread ${decimals(this.now[0], 2)} at the start, ${decimals(last, 2)} at the end`;
    drawBars(this.bars, this.now, this.was, 0, highest, `bars of the spread by depth, ${name}: ${words}`);
    this.key.textContent = `bars: spread of the stream before the first block and after each; the highest mark is ` +
      `${decimals(highest, 2)}; dashed: before your last move, if the depth is the same`;
    const moves = (i) => `${decimals(100 * change(found[i - 1], found[i]), 0)} %`;
    const facts = [
      ["spread that enters", decimals(this.now[0], 2)],
      [this.depth === 1 ? "after 1 block" : `after ${this.depth} blocks`, decimals(last, 2)],
      ["√(1 + 2 L), for updates of spread 1", decimals(Math.sqrt(1 + 2 * this.depth), 2)],
      ["how far the first block moves the stream", moves(1)],
      ["how far the last one does", moves(this.depth)],
    ];
    describe(this.list, facts);
    return `${name}, matrices times ${this.gain}: ${facts.map(([term, text]) => `${term}: ${text}`).join("; ")}`;
  }
}

const GAINS = [0.1, 0.25, 0.5, 1, 1.5, 2, 3];

define("explore-placement", ExplorePlacement);
