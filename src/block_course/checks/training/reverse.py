"""`training.reverse`: the answers of the task, and the bet of one who knows which digits but not where."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.kept import inputs_unchanged
from block_course.checks.outputs import on_cases, output_of
from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.checks.wording import two_numbers
from block_course.exercise import Array, Case, Exercise, Failure, Hints, Outputs, Property, Run

RETURNS = ("answers", "bet", "loss")
DIGITS, LETTERS, LONG = "ten digits", "few symbols", "longer sequences"
_ALL = (DIGITS, LETTERS, LONG)
_ROUNDING = 1e-9


def reference(tokens: Array, symbols: int) -> Outputs:
    """Reverse; the share of each symbol among the other tokens; the mean of −log of the answer's share."""
    answers = tokens[:, ::-1]
    one_hot = (tokens[..., None] == np.arange(symbols)).astype(np.float64)
    bet = (one_hot.sum(axis=1)[:, None] - one_hot) / (tokens.shape[1] - 1)
    chance = (bet * one_hot[:, ::-1]).sum(axis=2)
    return answers, bet, -np.log(chance).mean()


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Sequences of an even length, so that nobody is asked for its own symbol."""
    B = int(rng.choice([5, 7, 9]))
    return [
        _case(DIGITS, rng.integers(10, size=(B, 6)), 10),
        _case(LETTERS, rng.integers(3, size=(B, 4)), 3),
        _case(LONG, rng.integers(5, size=(B + 2, 8)), 5),
    ]


def _case(name: str, tokens: Array, symbols: int) -> Case:
    return Case(name=name, arguments={"tokens": tokens, "symbols": symbols})


def _bet(tokens: Array, symbols: int) -> Array:
    return reference(tokens, symbols)[1]


def _counts(tokens: Array, symbols: int) -> Array:
    return (tokens[..., None] == np.arange(symbols)).sum(axis=1).astype(np.float64)  # type: ignore[no-any-return]


def _chances(answers: Array, bet: Array) -> Array:
    return np.take_along_axis(bet, answers[..., None], axis=-1)


Loss = Callable[[Array], float]


def _task(
    answered: Callable[[Array], Array] = lambda tokens: tokens[:, ::-1],
    bets: Callable[[Array, int], Array] = _bet,
    lost: Loss = lambda chances: float(-np.log(chances).mean()),
) -> Callable[..., Outputs]:
    """The three outputs, each made of those before."""

    def answer(tokens: Array, symbols: int) -> Outputs:
        answers, bet = answered(tokens), bets(tokens, symbols)
        chances = np.maximum(_chances(answers, bet), 1e-300)
        return answers, bet, np.array(lost(chances))

    return answer


def _with_itself(tokens: Array, symbols: int) -> Array:
    counts = _counts(tokens, symbols) / tokens.shape[1]
    return np.repeat(counts[:, None], tokens.shape[1], axis=1)


MISCONCEPTIONS = tuple(
    misconception(name, answer, reference, sentence, returns=RETURNS)
    for name, answer, sentence in (
        (
            "batch reversed, not positions",
            _task(answered=lambda tokens: tokens[::-1]),
            "You turn the order of the sequences. Each sequence keeps its place, and its positions are "
            "reversed: axis 1.",
        ),
        (
            "own token in the bet",
            _task(bets=_with_itself),
            "Position t knows its own digit, and is asked for that of another position. The bet is spread "
            "over the other T − 1 tokens.",
        ),
        (
            "counts in place of shares",
            _task(bets=lambda tokens, symbols: _bet(tokens, symbols) * (tokens.shape[1] - 1)),
            "These are counts. A bet is a share of 1: divide by the number of other tokens.",
        ),
        (
            "an even bet",
            _task(bets=lambda tokens, symbols: np.full((*tokens.shape, symbols), 1.0 / symbols)),
            "That is the bet of one who knows nothing. This one knows which digits are there.",
        ),
        (
            "logarithm of a mean",
            _task(lost=lambda chances: float(-np.log(chances.mean()))),
            "You take the logarithm of the mean chance. The loss is the mean of the logarithms.",
        ),
        (
            "loss summed",
            _task(lost=lambda chances: float(-np.log(chances).sum())),
            "That is a sum over all positions. The loss is their mean.",
        ),
        (
            "loss in bits",
            _task(lost=lambda chances: float(-np.log2(chances).mean())),
            "That is in bits. In nats the logarithm is the natural one.",
        ),
    )
)


def _loss_follows(exercise: Exercise, run: Run) -> Failure | None:
    """The loss is that of the answer's own bet and its own answers."""
    for case, seen in on_cases(run, _ALL):
        outputs = [output_of(exercise, case, seen, index) for index in range(3)]
        complaint = next((said for got, said in outputs if got is None), "")
        answers, bet, loss = (got for got, _ in outputs)
        if answers is None or bet is None or loss is None:
            return Failure(case=case.name, message=complaint)
        tokens, symbols = np.asarray(case.arguments["tokens"]), case.arguments["symbols"]
        if answers.shape != tokens.shape or bet.shape != (*tokens.shape, symbols) or loss.shape != ():
            return Failure(
                case=case.name, message="answers, bet and loss have not the shapes that they should"
            )
        within = np.clip(answers.astype(np.int64), 0, bet.shape[-1] - 1)
        chances = _chances(within, bet.astype(np.float64))
        if not np.all(chances > 0.0):
            return Failure(
                case=case.name, message="your bet gives an answer no chance, and the loss is infinite"
            )
        wanted = float(-np.log(chances).mean())
        if not abs(float(loss) - wanted) <= _ROUNDING * max(1.0, abs(wanted)):
            is_now, should_be = two_numbers(float(loss), wanted)
            message = f"by your bet and answers, the loss should be {should_be}; it is {is_now}"
            return Failure(case=case.name, message=message)
    return None


_BET_HINTS: Hints = (
    "Position t has its own digit in sight. Over which tokens does it spread its bet?",
    "Over the T − 1 others: a digit that two of them have gets 2/(T − 1).",
    "Count each symbol in the sequence, take one away for the position's own, and divide by T − 1.",
)
_LOSS_HINTS: Hints = (
    "Which entry of the bet belongs to the answer of a position?",
    "Cross-entropy is −log of the chance that the right answer got, a mean over all positions of all "
    "sequences.",
    "Pick from the bet's last axis the entry of each answer, take the natural logarithm, and average; then "
    "turn the sign.",
)

EXERCISE = Exercise(
    id="training.reverse",
    answer="reversal_with_bet",
    title="The task and a bet",
    level="core",
    minutes=12,
    framework="numpy",
    reference=reference,
    cases=cases,
    returns=RETURNS,
    properties=(
        values("answers", "the answers", 0.75, on=_ALL, output=0),
        values("bet", "the bet", 1.5, on=_ALL, output=1, hints=_BET_HINTS),
        Property(
            name="follows",
            title="the loss of your bet and your answers",
            points=0.75,
            holds=_loss_follows,
            hints=_LOSS_HINTS,
        ),
        values("loss", "the loss", 0.75, on=_ALL, output=2, requires=("follows",), hints=_LOSS_HINTS),
        inputs_unchanged(0.25, requires=("answers", "bet")),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which axis of `tokens` are the positions?",
        "Answer t of a sequence is its token T − 1 − t.",
        "Reverse the second axis of `tokens`.",
    ),
    withheld=("transformer_block",),
)
