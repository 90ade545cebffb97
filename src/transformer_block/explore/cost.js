class ExploreCost extends Explorable {
  static look = ".shares { display: flex; height: 2.5rem; margin-bottom: 0.25rem; }" +
    ".shares div { box-sizing: border-box; border: 1px solid currentColor; min-width: 0; overflow: hidden; " +
    "font-size: 0.8em; padding: 0.1rem 0.2rem; white-space: nowrap; }" +
    ".shares div:nth-child(2) { background: var(--tint); } .wide { overflow-x: auto; } .live { font-size: 0.9em } .live :is(td, th) { padding-inline: 0.25rem; } .live td { white-space: nowrap }";

  begin({ blocks, tokens, dtype }, controls, stage) {
    Object.assign(this, { blocks, tokens, dtype, block: { ...Object.values(blocks)[0] } });
    this.stops = Object.fromEntries(Object.entries(STOPS).map(([letter, stops]) => {
      const given = letter === "T" ? [tokens] : Object.values(blocks).map((each) => each[letter]);
      return [letter, [...new Set([...stops, ...given])].sort((a, b) => a - b)];
    }));
    this.presets = buttons("begin with", Object.keys(blocks), (name) => this.put({ block: { ...blocks[name] } }));
    const own = (letter) => (i) => {
      const { H, G } = this.block;
      const changed = { [letter]: this.stops[letter][i] };
      if (letter === "H" && G === H) changed.G = changed.H; // heads that don't share go on not sharing
      this.put({ block: { ...this.block, ...changed } });
    };
    this.sliders = Object.fromEntries(Object.entries(NAMES).map(([letter, name]) => [letter,
      slider(name, { min: 0, max: this.stops[letter].length - 1, step: 1 },
        letter === "T" ? (i) => this.put({ tokens: this.stops.T[i] }) : own(letter))]));
    this.kinds = choice("block", Object.keys(KINDS), (name) => this.put({ block: { ...this.block, ...KINDS[name] } }));
    this.dtypes = choice("numbers of", Object.keys(BYTES), (name) => this.put({ dtype: name }));
    controls.append(this.presets, ...Object.values(this.sliders),
      make("div", { class: "row" }, this.kinds, this.dtypes));
    this.shares = make("div", { class: "shares", role: "img" });
    this.body = make("tbody");
    const heads = ["block", "parameters", "operations", "cache, bytes"].map((each) => make("th", { scope: "col" }, each));
    this.live = make("table", { class: "live" }, make("caption"), make("thead", {}, make("tr", {}, ...heads)), this.body);
    this.list = make("dl");
    stage.append(this.list, make("p", { class: "note" }, "operations forward: attention's matrices | its pairs | feed-forward"),
      this.shares, make("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "beside known blocks" }, this.live));
  }

  put(changed) {
    Object.assign(this, changed);
    this.moved();
  }

  draw() {
    const { D, H, G } = this.block;
    this.place();
    const refusal = D % H ? `d_model ${D} is not divisible by n_heads ${H}`
      : H % G ? `n_heads ${H} is not divisible by n_kv_heads ${G}` : "";
    this.shares.hidden = this.live.hidden = Boolean(refusal);
    if (refusal) {
      describe(this.list, [["no such block", refusal]]);
      return refusal;
    }
    const mine = blockCost(this.block, this.tokens, this.dtype);
    const facts = [
      ["parameters", grouped(mine.parameters)],
      ["operations forward", grouped(mine.flops)],
      ["cache", `${grouped(mine.cache)} bytes`],
    ];
    describe(this.list, facts);
    this.drawShares(mine);
    this.live.caption.textContent = `one block at T = ${grouped(this.tokens)}, ${this.dtype}`;
    const rows = { yours: mine };
    for (const [name, each] of Object.entries(this.blocks)) rows[name] = blockCost(each, this.tokens, this.dtype);
    this.body.replaceChildren(...Object.entries(rows).map(([name, each]) => make("tr", {}, make("th", { scope: "row" }, name),
      ...[each.parameters, each.flops, each.cache].map((count) => make("td", {}, short(count))))));
    return facts.map(([term, text]) => `${term} ${text}`).join("; ");
  }

  place() {
    const at = { ...this.block, T: this.tokens };
    for (const [letter, each] of Object.entries(this.sliders)) {
      each.set(this.stops[letter].indexOf(at[letter]), grouped(at[letter]));
    };
    const same = (one, other) => Object.keys(other).every((key) => one[key] === other[key]);
    this.presets.set(Object.keys(this.blocks).find((name) => same(this.block, this.blocks[name])));
    this.kinds.set(Object.keys(KINDS).find((name) => same(this.block, KINDS[name])));
    this.dtypes.set(this.dtype);
  }

  drawShares({ matrices, pairs, inner, flops }) {
    const parts = Object.entries({ matrices, pairs, "feed-forward": inner });
    const percent = (part) => `${decimals((100 * part) / flops, 1)} %`;
    this.shares.setAttribute("aria-label", parts.map(([name, part]) => `${name} ${percent(part)}`).join(", "));
    this.shares.replaceChildren(...parts.map(([name, part]) =>
      make("div", { style: `flex: ${part / flops} 1 0`, title: name }, percent(part))));
  }
}

const NAMES = { D: "D, width", F: "F, inner", T: "T, tokens", H: "H, heads", G: "G, kv heads" };
const STOPS = {
  D: [32, 64, 128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288],
  F: [64, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 11008, 12288, 14336, 16384, 24576, 32768, 49152],
  T: [1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072],
  H: [1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96],
  G: [1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96],
};
const KINDS = {
  "with biases, plain, layer norm": { biases: 1, gated: 0, centered: 1 },
  "no biases, gated, RMSNorm": { biases: 0, gated: 1, centered: 0 },
};

function grouped(count) {
  return count.toLocaleString("en-US");
}

// Three digits and a unit: 7.09 M.
function short(count) {
  const units = ["", " k", " M", " G", " T", " P"];
  const power = Math.min(Math.floor(Math.log10(Math.max(count, 1)) / 3), units.length - 1);
  return power ? `${(count / 1000 ** power).toPrecision(3)}${units[power]}` : String(count);
}

define("explore-cost", ExploreCost);
