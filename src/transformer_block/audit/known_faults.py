"""The faults that an audit can name: what each is, and which contracts it breaks."""

from collections.abc import Mapping
from types import MappingProxyType

_LIKE = "like the package"
_LEAKS = ("causal", "cache", "train and eval", _LIKE)
_ALL_POSITIONS = (
    "causal",
    "padding",
    "mask meaning",
    "average",
    "permutation",
    "cache",
    _LIKE,
)

KNOWN: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "no_usable_output": (
            "on ordinary tokens it gives no array of finite numbers of their shape",
            ("shape",),
        ),
        "sample_variance": (
            "a norm's variance divides by D − 1; layer norm divides by D",
            ("norms", _LIKE),
        ),
        "eps_outside_the_root": (
            "a norm adds eps to the standard deviation; it stands inside the root",
            ("norms", _LIKE),
        ),
        "statistics_over_time_and_features": (
            "a norm takes its mean over all positions: tokens see each other in it",
            ("norms", *_ALL_POSITIONS, "fully masked row"),
        ),
        "variance_from_mean_of_squares": (
            "a variance is computed as E[x²] − E[x]², which cancels where the mean is "
            "large beside the spread",
            ("norms", "far from 0", "float16", "bfloat16", "zeroed branches", _LIKE),
        ),
        "first_norm_reused": (
            "the first norm is used twice, and the second one never",
            ("norms", "gradients", _LIKE),
        ),
        "heads_not_transposed_back": (
            "heads are laid flat without being transposed back: features of one "
            "position come from others",
            _ALL_POSITIONS,
        ),
        "softmax_over_queries": (
            "the softmax runs over queries; the weights of one query do not sum to 1",
            (*_ALL_POSITIONS, "fully masked row"),
        ),
        "weights_do_not_sum_to_1": (
            "the weights of a query do not sum to 1: the mask is applied behind the "
            "softmax, or something scales them",
            (*_ALL_POSITIONS, "fully masked row"),
        ),
        "mask_inverted": (
            "the mask is read the wrong way round: hidden tokens are seen",
            ("mask meaning", "padding", "fully masked row", "average", _LIKE),
        ),
        "causal_mask_dropped_in_eval": (
            "the causal mask is there in training and missing in evaluation",
            _LEAKS,
        ),
        "causal_mask_dropped_in_training": (
            "the causal mask is there in evaluation and missing in training",
            _LEAKS,
        ),
        "causal_mask_off_by_one": (
            "each position hears the next one: the diagonal of the mask is off by one",
            _LEAKS,
        ),
        "causal_mask_missing": ("each position hears all later ones", _LEAKS),
        "mask_dropped_in_eval": (
            "the mask passed in is used in training and not in evaluation",
            ("padding", "train and eval", _LIKE),
        ),
        "mask_dropped_in_training": (
            "the mask passed in is used in evaluation and not in training",
            ("padding", "train and eval", _LIKE),
        ),
        "mask_ignored": (
            "the mask passed in changes nothing",
            ("padding", _LIKE),
        ),
        "mask_lost_after_the_first_layer": (
            "the mask passed in acts in a part of the block only: it is lost on the "
            "way to a later layer, or to some heads",
            ("padding", _LIKE),
        ),
        "masked_row_not_finite": (
            "a query that sees no key becomes NaN, in its output or its gradients",
            ("fully masked row",),
        ),
        "post_norm": (
            "norms stand after the adds; before the branches was said",
            ("zeroed branches", "float16", "bfloat16", _LIKE),
        ),
        "pre_norm": (
            "norms stand before the branches; after the adds was said",
            ("zeroed branches", _LIKE),
        ),
        "no_residual": (
            "the input is not added: only what the branches say goes on",
            ("zeroed branches", _LIKE),
        ),
        "normed_x_added": (
            "the normalized input is added, not the input: each norm cuts the stream",
            ("zeroed branches", _LIKE),
        ),
        "dropout_left_on": (
            "something is dropped at random in evaluation",
            ("determinism", "state", "batch", *_ALL_POSITIONS),
        ),
        "sequences_mixed": (
            "sequences of a batch see each other",
            ("batch", "train and eval", "padding", "mask meaning", "cache", _LIKE),
        ),
        "cache_offset_off_by_one": (
            "behind a cache, tokens take positions that are not theirs",
            ("cache",),
        ),
        "cache_mask_misaligned": (
            "behind a cache, a token doesn't see all that was read before it",
            ("cache",),
        ),
        "cache_stale": (
            "the first token behind a new cache is off: the cache was not empty",
            ("cache",),
        ),
        "output_buffer_reused": (
            "outputs share one buffer, which the next call writes over",
            ("output kept",),
        ),
        "input_written_over": (
            "it writes over the tokens passed in",
            ("input kept", "gradients"),
        ),
        "dtype_not_kept": ("the output has another dtype than the input", ("dtype",)),
        "state_incomplete": (
            "something that it computes with is not in its state",
            ("state", _LIKE),
        ),
        "parameter_unused": ("a parameter receives no gradient", ("gradients",)),
        "gradients_not_finite": ("a gradient is NaN or infinite", ("gradients",)),
        "not_finite_in_half": (
            "numbers leave the range of a narrow dtype",
            ("float16", "bfloat16"),
        ),
        "scores_not_scaled": ("scores are not divided by √K", (_LIKE,)),
        "scores_scaled_by_the_model_width": (
            "scores are divided by √D; the width of a head counts",
            (_LIKE,),
        ),
        "biases_forgotten": ("biases are held and not added", (_LIKE, "gradients")),
        "qkv_in_another_order": (
            "the rows that make queries, keys and values are read in another order",
            (_LIKE,),
        ),
        "another_eps": ("norms have another eps than was said", (_LIKE,)),
        "another_activation": (
            "the feed-forward part bends by another function than was said",
            (_LIKE,),
        ),
        "other_positions": (
            "it has rotary positions and should not, or the other way round",
            (_LIKE,),
        ),
    }
)
