class ExploreLayerNorm extends Explorable {
  begin({ token, eps }, controls, stage) {
    Object.assign(this, { token, eps, first: token, was: null });
    this.sliders = token.map((_, i) =>
      slider(`feature ${i + 1}`, { step: 0.1 }, (value) => this.put(this.token.map((x, j) => (i === j ? value : x)))));
    const row = make("div", { class: "row", role: "group", "aria-label": "all features at once" },
      button("all + 1", () => this.put(this.token.map((x) => x + 1))),
      button("all − 1", () => this.put(this.token.map((x) => x - 1))),
      button("all × 2", () => this.put(this.token.map((x) => 2 * x))),
      button("all ÷ 2", () => this.put(this.token.map((x) => x / 2))),
      button("start again", () => this.put(this.first)));
    this.offered = [...new Set([0.00001, 0.01, 1, eps])].sort((a, b) => a - b).map(String);
    this.epsilon = choice("eps", this.offered, (text) => {
      this.eps = Number(text);
      this.put(this.token);
    });
    controls.append(...this.sliders, row, make("p", { class: "note" }, this.epsilon));
    this.bars = make("div", { class: "bars", role: "img" });
    this.list = make("dl");
    stage.append(this.bars, make("p", { class: "note" }, "bars: after layer norm; dashed: before your last move"), this.list);
    this.after = layerNorm(token, eps).output;
    this.drawn = { token, after: this.after };
  }

  put(token) {
    this.drawn = { token: this.token, after: this.after };
    this.token = token;
    this.moved();
  }

  draw() {
    const { mean, variance, output } = layerNorm(this.token, this.eps);
    const far = (a, b) => Math.max(...a.map((each, i) => Math.abs(each - b[i])));
    const moved = `the token by up to ${decimals(far(this.token, this.drawn.token))}, ` +
      `the result by up to ${decimals(far(output, this.drawn.after), 6)}`;
    this.after = output;
    const furthest = Math.max(10, 2 * Math.max(...this.token.map(Math.abs)));
    this.sliders.forEach((each, i) => {
      if (Number(each.input.max) < furthest / 2 || !each.input.max) Object.assign(each.input, { min: -furthest, max: furthest });
      each.set(this.token[i], decimals(this.token[i]));
    });
    this.epsilon.set(String(this.eps));
    const high = Math.sqrt(this.token.length); // no feature can be further out
    drawBars(this.bars, output, this.drawn.after, -high, high, `bars of the result: ${vector(output)}`);
    describe(this.list, [
      ["token", vector(this.token)],
      ["mean, variance", `${decimals(mean)}, ${decimals(variance, 6)}`],
      ["after layer norm", vector(output)],
      ["variance after", decimals(layerNorm(output, 0).variance, 6)],
      ["last move", moved],
    ]);
    return `moved ${moved}; after layer norm ${vector(output)}`;
  }
}

define("explore-layer-norm", ExploreLayerNorm);
