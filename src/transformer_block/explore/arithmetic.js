// All that the explorables compute, on plain arrays; tests hold every function against the package.

// One token: y = (x − mean) / √(variance + eps), with the population's variance.
function layerNorm(x, eps) {
  const mean = average(x);
  const centered = x.map((each) => each - mean);
  const variance = average(centered.map((each) => each * each));
  const root = Math.sqrt(variance + eps);
  return { mean, variance, output: centered.map((each) => each / root) };
}

function average(values) {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}

// Softmax over the visible keys of each query; a query that sees none gets zeros.
function attentionWeights(scores, visible) {
  return scores.map((row, t) => {
    const most = Math.max(...row.filter((_, s) => visible[t][s]));
    const raised = row.map((score, s) => (visible[t][s] ? Math.exp(score - most) : 0));
    const sum = raised.reduce((a, b) => a + b, 0);
    return raised.map((each) => (sum ? each / sum : 0));
  });
}

// (I ∨ visible)^L: the residual stream lets each position hear itself.
function reachable(visible, nLayers) {
  const step = visible.map((row, t) => row.map((seen, s) => Boolean(seen) || t === s));
  let reach = step;
  for (let layer = 1; layer < nLayers; layer += 1) {
    reach = step.map((row) => row.map((_, s) => row.some((seen, r) => seen && reach[r][s])));
  }
  return reach;
}

// Numbers in [0, 1), the n-th from seed and n alone, the same bits as in _drawn.py.
function uniform(seed, n) {
  let h = (seed + Math.imul(n, 0x9e3779b1)) | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}

// A matrix of rows × columns entries in (−bound, bound), in the numbers from place × 2¹⁶ on.
function drawn(seed, place, rows, columns, bound) {
  const at = (i, j) => bound * (2 * uniform(seed, place * 65536 + i * columns + j) - 1);
  return Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j) => at(i, j)));
}

function drawnStack({ positions, features, inner, depth, seed, gain }) {
  const xavier = (place, rows, columns) =>
    drawn(seed, place, rows, columns, gain * Math.sqrt(6 / (rows + columns)));
  return {
    x: drawn(seed, 0, positions, features, Math.sqrt(3)),
    blocks: Array.from({ length: depth }, (_, i) => ({
      qkv: xavier(4 * i + 1, 3 * features, features),
      out: xavier(4 * i + 2, features, features),
      up: xavier(4 * i + 3, inner, features),
      down: xavier(4 * i + 4, features, inner),
    })),
  };
}

function times(x, matrix) {
  return x.map((row) => matrix.map((weights) => weights.reduce((sum, w, j) => sum + w * row[j], 0)));
}

function attention(x, { qkv, out }, heads) {
  const features = x[0].length;
  const width = features / heads;
  const all = times(x, qkv);
  const seen = x.map(() => x.map(() => true));
  const gathered = x.map(() => []);
  for (let head = 0; head < heads; head += 1) {
    const part = (i) => all.map((row) => row.slice(i * features + head * width).slice(0, width));
    const [q, k, v] = [part(0), part(1), part(2)];
    const scores = times(q, k).map((row) => row.map((each) => each / Math.sqrt(width)));
    attentionWeights(scores, seen).forEach((weights, t) => {
      for (let j = 0; j < width; j += 1) gathered[t].push(weights.reduce((sum, w, s) => sum + w * v[s][j], 0));
    });
  }
  return times(gathered, out);
}

function feedForward(x, { up, down }) {
  return times(times(x, up).map((row) => row.map((each) => Math.max(each, 0))), down);
}

// The stream that enters, and that after each block: pre x + f(n(x)), post n(x + f(x)), sandwich x + n(f(n(x))).
function streams(placement, stack, heads, eps) {
  const norm = (x) => x.map((token) => layerNorm(token, eps).output);
  const add = (x, update) => x.map((row, t) => row.map((each, j) => each + update[t][j]));
  const join = {
    pre: (x, branch) => add(x, branch(norm(x))),
    post: (x, branch) => norm(add(x, branch(x))),
    sandwich: (x, branch) => add(x, norm(branch(norm(x)))),
  }[placement];
  const found = [stack.x];
  for (const block of stack.blocks) {
    const halfway = join(found.at(-1), (read) => attention(read, block, heads));
    found.push(join(halfway, (read) => feedForward(read, block)));
  }
  return found;
}

// Standard deviation of all entries.
function spread(x) {
  const all = x.flat();
  const mean = average(all);
  return Math.sqrt(average(all.map((each) => (each - mean) ** 2)));
}

// How far b lies from a, as a share of the length of a.
function change(a, b) {
  const length = (rows) => Math.hypot(...rows.flat());
  return length(b.map((row, t) => row.map((each, j) => each - a[t][j]))) / length(a);
}

const BYTES = { float64: 8, float32: 4, float16: 2, bfloat16: 2 };

// Parameters, forward operations and cache of one block, in the letters of the book.
function blockCost({ D, H, G, F, biases, gated, centered }, T, dtype) {
  const kept = (2 * G * D) / H; // features of keys and values
  const gates = gated ? 3 : 2;
  const bias = biases ? D + kept + D + (gates - 1) * F + D : 0;
  const attended = D * (D + kept) + D * D;
  const inner = gates * D * F;
  return {
    parameters: attended + inner + bias + 2 * D * (centered ? 2 : 1),
    matrices: 2 * T * attended,
    pairs: 4 * T * T * D,
    inner: 2 * T * inner,
    flops: 2 * T * (attended + inner) + 4 * T * T * D,
    cache: kept * T * BYTES[dtype],
  };
}
