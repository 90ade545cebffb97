"""The contract of modes: training without dropout computes what evaluation does."""

import numpy as np

from transformer_block.audit.measures import (
    aside,
    distance,
    hidden_keys,
    judged,
    mask_of,
    run,
)
from transformer_block.audit.report import Row
from transformer_block.audit.subject import Subject, Unable, tokens


def modes(subject: Subject) -> Row:
    """Once nothing is dropped, training and evaluation give the same outputs."""
    name = "train and eval"
    try:
        training = subject.calm()
    except Unable as reason:
        return aside(name, reason)
    evaluation = subject.mode(training=False)
    x = tokens(subject)
    masks: list[np.ndarray | None] = [None]
    if subject.takes_mask:
        masks.append(mask_of(hidden_keys(subject)))
    y = run(evaluation, x)
    if distance(_drawn(training, x, 1), _drawn(training, x, 2)) > 0:
        return aside(
            name, "it draws at random in training, and that can't be turned off"
        )
    moved = [distance(run(training, x, m), run(evaluation, x, m)) for m in masks]
    return judged(
        name,
        max(moved),
        subject.rounding(y),
        good="with dropout at 0, training gave what evaluation gave",
        bad="with dropout at 0, training and evaluation gave different outputs",
        without_mask=moved[0],
    )


def _drawn(subject: Subject, x: np.ndarray, seed: int) -> np.ndarray:
    subject.seed(seed)
    return subject(x)
