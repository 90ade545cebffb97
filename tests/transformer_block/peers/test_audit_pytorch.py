"""How the audit calls PyTorch's own layers: held against calls of one sequence with a mask of its own."""

import pytest
import torch
from torch import nn

from transformer_block.audit.facts import Facts
from transformer_block.audit.layers import known
from transformer_block.audit.subject import Subject

D, HEADS, B, T = 6, 3, 2, 4
generator = torch.Generator().manual_seed(1)
X = torch.randn(B, T, D, dtype=torch.float64, generator=generator)
VISIBLE = torch.rand(B, T, T, generator=generator) < 0.6
VISIBLE |= torch.eye(T, dtype=torch.bool)
LAYERS = [nn.TransformerEncoderLayer, nn.TransformerDecoderLayer]


def made(layer, **choices):
    torch.manual_seed(0)
    return layer(D, HEADS, dim_feedforward=9, dtype=torch.float64, **choices).eval()


def alone(layer, x, visible):
    """One sequence through a layer with batch_first, its mask told as PyTorch has it: True hides."""
    hidden = None if visible is None else ~visible
    if isinstance(layer, nn.TransformerEncoderLayer):
        return layer(x[None], src_mask=hidden)[0]
    memory = Subject(abs, Facts(d_model=D, memory=True)).beside(1)[1]["memory"]
    return layer(x[None], torch.tensor(memory), tgt_mask=hidden)[0]


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("layer", LAYERS)
def test_each_sequence_gets_its_own_mask_and_tokens_stand_where_the_layer_wants_them(
    layer, batch_first, masked
):
    block, plain = made(layer, batch_first=batch_first), made(layer, batch_first=True)
    visible = VISIBLE if masked else None
    y = known(block).call(block, X, visible)
    expected = [alone(plain, x, None if visible is None else visible[i]) for i, x in enumerate(X)]
    torch.testing.assert_close(y, torch.stack(expected))


@pytest.mark.parametrize(("norm_first", "placement"), [(True, "pre"), (False, "post")])
@pytest.mark.parametrize("layer", LAYERS)
def test_what_a_layer_is_is_known(layer, norm_first, placement):
    facts = known(made(layer, norm_first=norm_first))
    assert facts == Facts(
        d_model=D, framework="torch", causal=False, placement=placement, positions="none", call=facts.call
    )


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_is_known_by_what_it_is_made_from_and_not_by_its_name(layer):
    mine = type("Mine", (layer,), {})
    assert known(made(mine)).framework == "torch"
    assert known(type(layer.__name__, (nn.Module,), {})()) == Facts()
