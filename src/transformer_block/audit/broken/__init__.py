"""Blocks that are wrong, each in one way: all of them pass a test of shapes.

They are what an audit is for, and what it is tested on. Each keeps (B, T, D), learns,
and has one fault, by whose name it stands in BROKEN; `plain.Block` is the right one.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from torch import nn

from transformer_block.audit.broken import attentions, norms, streams
from transformer_block.audit.broken.plain import CONFIG, Block

BROKEN: Mapping[str, Callable[[], nn.Module]] = MappingProxyType(
    {
        "causal_mask_dropped_in_eval": attentions.CausalMaskDroppedInEval,
        "mask_lost_after_the_first_layer": streams.MaskLostAfterTheFirstLayer,
        "normed_x_added": streams.NormedXAdded,
        "eps_outside_the_root": norms.EpsOutsideTheRoot,
        "sample_variance": norms.SampleVariance,
        "mask_inverted": attentions.MaskInverted,
        "first_norm_reused": norms.FirstNormReused,
        "dropout_left_on": streams.DropoutLeftOn,
        "cache_offset_off_by_one": attentions.CacheOffsetOffByOne,
        "variance_from_mean_of_squares": norms.VarianceFromMeanOfSquares,
        "heads_not_transposed_back": attentions.HeadsNotTransposedBack,
        "softmax_over_queries": attentions.SoftmaxOverQueries,
        "statistics_over_time_and_features": norms.StatisticsOverTimeAndFeatures,
        "output_buffer_reused": streams.OutputBufferReused,
        "cache_mask_misaligned": attentions.CacheMaskMisaligned,
        "sequences_mixed": streams.SequencesMixed,
        "input_written_over": streams.InputWrittenOver,
        "no_residual": streams.NoResidual,
        "causal_mask_off_by_one": attentions.CausalMaskOffByOne,
        "causal_mask_missing": attentions.CausalMaskMissing,
        "mask_ignored": attentions.MaskIgnored,
        "masked_row_not_finite": attentions.MaskedRowNotFinite,
        "weights_do_not_sum_to_1": attentions.MaskBehindSoftmax,
        "state_incomplete": streams.StateIncomplete,
        "dtype_not_kept": streams.DtypeNotKept,
    }
)
"""Each fault by its name in `diagnosis`, and the class that has it."""

__all__ = ["BROKEN", "CONFIG", "Block"]
