#pragma once
/// Everything that a program of your own needs: tape and ops, layers, optimizers, data, and the
/// command.

#include <bochner/autodiff/gradcheck.hpp>
#include <bochner/autodiff/ops.hpp>
#include <bochner/autodiff/tape.hpp>
#include <bochner/data/byte_corpus.hpp>
#include <bochner/data/glob.hpp>
#include <bochner/data/sampler.hpp>
#include <bochner/data/windows.hpp>
#include <bochner/layers/attention/mixer.hpp>
#include <bochner/layers/basic/dropout.hpp>
#include <bochner/layers/basic/embedding.hpp>
#include <bochner/layers/basic/linear.hpp>
#include <bochner/layers/basic/mlp.hpp>
#include <bochner/layers/basic/norm.hpp>
#include <bochner/layers/encodings/positions.hpp>
#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/initialize.hpp>
#include <bochner/layers/models/language_model.hpp>
#include <bochner/layers/spectral/density.hpp>
#include <bochner/optim/clip.hpp>
#include <bochner/optim/ema.hpp>
#include <bochner/optim/groups.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/optim/schedule.hpp>
#include <bochner/train/cli.hpp>
