"""One token's walk through a transformer block, with Python alone.

Ten tokens of two features each pass through one block: a single attention head, then a
feed-forward part, each followed by an add and a norm (the post-norm order of 2017). Two
features are enough to write every number on paper, and too few to show what layer norm
does: see `layer_norm`.

A vector is a list of floats, a matrix a list of rows. Weight matrices are (out, in), as
in PyTorch, so that each row makes one output feature.
"""

import math
from collections.abc import Iterator, Sequence

Vector = list[float]
Matrix = list[Vector]

# What the block is given: a sentence, and two features for each of its tokens.
TOKENS = ["The", "cat", "sat", "on", "the", "mat", "because", "it", "was", "tired"]
EMBEDDINGS: Matrix = [
    [0.1, 0.1],
    [1.5, 0.2],
    [0.3, 1.2],
    [-0.2, 0.4],
    [0.1, 0.1],
    [-0.3, -1.0],
    [0.6, -0.6],
    [1.4, 0.3],
    [0.2, -0.3],
    [1.0, -0.8],
]

# What training would find: here the weights are chosen by hand.
QUERY: Matrix = [[1.0, 0.2], [0.2, 1.0]]
KEY: Matrix = [[1.0, -0.2], [-0.2, 1.0]]
VALUE: Matrix = [[0.5, 0.5], [-0.5, 0.5]]
UP: Matrix = [[0.6, -0.4], [0.3, 0.7], [-0.5, 0.2], [0.1, -0.6]]
UP_BIAS: Vector = [0.1, -0.1, 0.05, 0.0]
DOWN: Matrix = [[0.5, -0.3, 0.2, 0.4], [-0.2, 0.6, 0.1, -0.5]]
DOWN_BIAS: Vector = [0.0, 0.1]


def walk(
    token: str = "it", *, causal: bool = False, positions_in_attention: bool = False
) -> list[tuple[str, Vector]]:
    """Follow one token through the block: the name of each stage and its vector there.

    Arguments are those of `stages`.

    Raises: ValueError for a token that the sentence does not have.
    """
    if token not in TOKENS:
        raise ValueError(f"the sentence is {' '.join(TOKENS)!r}; it has no {token!r}")
    t = TOKENS.index(token)
    whole = stages(causal=causal, positions_in_attention=positions_in_attention)
    return [(name, vectors[t]) for name, vectors in whole]


def stages(
    *, causal: bool = False, positions_in_attention: bool = False
) -> Iterator[tuple[str, Matrix]]:
    """Yield the name of each stage and the vectors of all ten tokens there, in order.

    z = norm(x + p + attention(x)),  y = norm(z + feed_forward(z))

    x are the embeddings and p the positions. With positions_in_attention the queries,
    keys and values are made from x + p, as in the transformer of 2017; without, from x
    alone. causal hides later tokens from earlier ones.

    Source: Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762.
    """
    x = EMBEDDINGS
    yield "embedding", x
    placed = [add(vector, position(t)) for t, vector in enumerate(x)]
    yield "add_position", placed

    attended = attention(placed if positions_in_attention else x, causal)
    yield "attention", attended
    stream = [add(p, y) for p, y in zip(placed, attended, strict=True)]
    yield "add_1", stream
    stream = [layer_norm(vector) for vector in stream]
    yield "norm_1", stream

    fed = [feed_forward(vector) for vector in stream]
    yield "feed_forward", fed
    stream = [add(z, y) for z, y in zip(stream, fed, strict=True)]
    yield "add_2", stream
    stream = [layer_norm(vector) for vector in stream]
    yield "norm_2", stream


def position(t: int) -> Vector:
    """Encode a place in the sentence: a point on a small circle, one radian a token.

    p = 0.3 · (sin t, cos t)
    """
    return [0.3 * math.sin(t), 0.3 * math.cos(t)]


def attention(x: Matrix, causal: bool = False) -> Matrix:
    """Let each token gather the values of the tokens it sees, weighted by attention.

    yₜ = Σₛ weightₜₛ · vₛ  with  v = VALUE · x
    """
    values = [linear(VALUE, vector) for vector in x]
    features = list(zip(*values, strict=True))
    return [
        [dot(weights, feature) for feature in features]
        for weights in attention_weights(x, causal)
    ]


def attention_weights(x: Matrix, causal: bool = False) -> Matrix:
    """Share out each token's attention: row t says how much it gives to every token s.

    weightₜ = softmaxₛ(qₜ · kₛ / √2)  with  q = QUERY · x,  k = KEY · x

    √2 is the root of the number of features. A causal token sees itself and what came
    before; it gives exactly 0 to the rest.
    """
    queries = [linear(QUERY, vector) for vector in x]
    keys = [linear(KEY, vector) for vector in x]
    rows = []
    for t, query in enumerate(queries):
        seen = keys[: t + 1] if causal else keys
        weights = softmax([dot(query, key) / math.sqrt(len(key)) for key in seen])
        rows.append(weights + [0.0] * (len(keys) - len(seen)))
    return rows


def softmax(scores: Vector) -> Vector:
    """Turn scores into positive weights with sum 1.

    exp(score − max) / Σ exp(score − max)

    Taking the largest score away changes no weight and keeps exp from overflowing.
    """
    largest = max(scores)
    exponentials = [math.exp(score - largest) for score in scores]
    total = sum(exponentials)
    return [each / total for each in exponentials]


def layer_norm(x: Vector, eps: float = 1e-5) -> Vector:
    """Shift and scale one token by the mean and spread of its own features.

    y = (x − mean) / √(variance + eps)

    The variance divides by the number of features. With two of them, a and b, the mean
    lies halfway and the spread is half the distance |a − b|: the result is (1, −1) or
    (−1, 1), up to eps, and tells which was larger and nothing else.

    Source: Ba, Kiros and Hinton, Layer Normalization, 2016, arXiv:1607.06450.
    """
    mean = sum(x) / len(x)
    variance = sum((feature - mean) ** 2 for feature in x) / len(x)
    return [(feature - mean) / math.sqrt(variance + eps) for feature in x]


def feed_forward(x: Vector) -> Vector:
    """Widen one token to four features, cut off what is negative, and come back to two.

    y = DOWN · max(UP · x + UP_BIAS, 0) + DOWN_BIAS
    """
    inner = [max(feature, 0.0) for feature in add(linear(UP, x), UP_BIAS)]
    return add(linear(DOWN, inner), DOWN_BIAS)


def linear(matrix: Matrix, x: Vector) -> Vector:
    """Make one output feature from each row of a matrix: matrix · x."""
    return [dot(row, x) for row in matrix]


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    """Multiply feature by feature and sum: Σ aᵢ · bᵢ."""
    return sum(left * right for left, right in zip(a, b, strict=True))


def add(a: Vector, b: Vector) -> Vector:
    """Add feature by feature: aᵢ + bᵢ."""
    return [left + right for left, right in zip(a, b, strict=True)]
