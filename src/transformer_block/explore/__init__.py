"""What a reader moves in the page: elements that compute as the package does."""

from transformer_block.explore.cost import explore_cost
from transformer_block.explore.layer_norm import explore_layer_norm
from transformer_block.explore.masks import explore_masks
from transformer_block.explore.placement import explore_placement

__all__ = ["explore_cost", "explore_layer_norm", "explore_masks", "explore_placement"]
