#pragma once
/// All public ops.

#include <bochner/autodiff/ops/attention/delta_rule.hpp>
#include <bochner/autodiff/ops/attention/gated_linear_attention.hpp>
#include <bochner/autodiff/ops/conv.hpp>
#include <bochner/autodiff/ops/einsum.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/features.hpp>
#include <bochner/autodiff/ops/feed_forward.hpp>
#include <bochner/autodiff/ops/fourier/fourier.hpp>
#include <bochner/autodiff/ops/fourier/fourier_features.hpp>
#include <bochner/autodiff/ops/learned_quantiles.hpp>
#include <bochner/autodiff/ops/likelihood/conjugate_likelihood.hpp>
#include <bochner/autodiff/ops/likelihood/gaussian_likelihood.hpp>
#include <bochner/autodiff/ops/likelihood/iterative_likelihood.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/autodiff/ops/normed_affines.hpp>
#include <bochner/autodiff/ops/recurrence/long_convolution.hpp>
#include <bochner/autodiff/ops/recurrence/recurrence.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/sampled_softmax.hpp>
#include <bochner/autodiff/ops/select.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/autodiff/ops/solve.hpp>
