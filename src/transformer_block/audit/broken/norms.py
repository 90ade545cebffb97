"""Blocks whose norms are wrong."""

from torch import Tensor

from transformer_block.audit.broken.plain import Block, Norm


class _SampleVarianceNorm(Norm):
    def standardized(self, x: Tensor) -> Tensor:
        variance = x.var(-1, keepdim=True)  # PyTorch's var divides by D − 1
        return (x - x.mean(-1, keepdim=True)) / (variance + self.eps).sqrt()


class SampleVariance(Block):
    """Its variance divides by D − 1."""

    make_norm = _SampleVarianceNorm


class _EpsOutsideNorm(Norm):
    def standardized(self, x: Tensor) -> Tensor:
        spread = x.std(-1, keepdim=True, correction=0)
        return (x - x.mean(-1, keepdim=True)) / (spread + self.eps)


class EpsOutsideTheRoot(Block):
    """It adds eps to the standard deviation."""

    make_norm = _EpsOutsideNorm


class _MeanOfSquaresNorm(Norm):
    def standardized(self, x: Tensor) -> Tensor:
        mean = x.mean(-1, keepdim=True)
        variance = x.square().mean(-1, keepdim=True) - mean.square()
        return (x - mean) / (variance.clamp(min=0) + self.eps).sqrt()


class VarianceFromMeanOfSquares(Block):
    """Its variance is E[x²] − E[x]², as some fast kernels have it."""

    make_norm = _MeanOfSquaresNorm


class _TimeAndFeaturesNorm(Norm):
    def standardized(self, x: Tensor) -> Tensor:
        centered = x - x.mean((-2, -1), keepdim=True)
        variance = centered.square().mean((-2, -1), keepdim=True)
        return centered / (variance + self.eps).sqrt()


class StatisticsOverTimeAndFeatures(Block):
    """Its statistics run over all tokens of a sequence."""

    make_norm = _TimeAndFeaturesNorm


class FirstNormReused(Block):
    """A name mistyped: the second branch reads norm_1 as well."""

    def forward(
        self,
        x: Tensor,
        visible: Tensor | None = None,
        cache: dict[str, Tensor] | None = None,
    ) -> Tensor:
        """Use norm_1 twice."""
        h = x + self.attention(self.norm_1(x), visible, cache)
        return h + self.feed_forward(self.norm_1(h))  # type: ignore[no-any-return]
