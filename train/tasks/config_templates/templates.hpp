#pragma once
/// The texts of config_template(); what stands in braces is filled in.

namespace bochner {

struct StarterTemplate {
  const char *kind, *text;
};

inline constexpr StarterTemplate config_templates[] = {
    {"lm", R"(# A language model of bytes: any text.

[model]
kind = "lm"                   # predicts the next byte
blocks = 2
width = 64
positions = "none"            # the time kernel knows the order

[model.mixer]
kind = "linear"               # attention in O(T); others: softmax, ssm, hyena, ...
heads = 4
features = "positive"         # phi: how the kernel is estimated
m = 32
density = "gaussian"          # p(omega): which kernel, learned per head
time_kernel = "decay"         # times a learned factor exp(-lag / tau) per head
convolution = 4               # of queries, keys and values, over so many bytes

[data]
kind = "bytes"
files = [{files}]
length = {length}                  # bytes that the model sees
validation = 0.1              # of the bytes, the last ones

[optim]
lr = 1e-2
schedule.kind = "cosine"
schedule.warmup = {warmup}
clip = 1.0

[train]
batch = 16
steps = {steps}
validate.every = {validate}
validate.batches = 50
)"},
    {"classifier", R"(# A classifier of {what}. See docs/tasks.md.

[model]
kind = "classifier"
blocks = 2
width = 64
positions = "{positions}"
pooling = "mean"
dropout = 0.1

[model.mixer]
kind = "linear"               # attention in O(T); others: softmax, ssm, hyena, ...
heads = 4
features = "positive"         # phi: how the kernel is estimated
m = 32
convolution = 4

[data]
kind = "{data}"                # or images (IDX, CIFAR), event_files
files = [{files}]
{columns}validation = 0.1              # of them

[optim]
lr = {lr}
weight_decay = {weight_decay}
schedule.kind = "cosine"
schedule.warmup = {warmup}
clip = 1.0

[train]
batch = 16
steps = {steps}
validate.every = {validate}
)"},
    {"forecaster",
     R"(# A forecaster: the rows of a table that follow the last ones. See docs/forecasting.md.

[model]
kind = "forecaster"
backbone = {backbone}
instance_norm = "last"        # each window less its last value
loss = "mse"                  # or mae, huber; or quantile, of model.quantiles

[data]
kind = "series"
files = [{files}]
{columns}lookback = {lookback}                 # rows that the model sees
horizon = {horizon}                  # rows that it forecasts
# calendar = ["hour", "weekday", "month"]   # covariates; more: known, static
splits = [0.7, 0.1, 0.2]      # training, validation and test, one after the other

[optim]
lr = 3e-3
weight_decay = 0.1
schedule.kind = "cosine"
schedule.warmup = {warmup}

[train]
batch = {batch}
steps = {steps}
validate.every = {validate}
)"},
    {"events", R"(# When the next event happens and of which type it is. See docs/time.md.

[model]
kind = "events"
blocks = 2
width = 32
positions = "none"
dropout = 0.1

[model.time]
kind = "free"                 # learned frequencies
use = "rotate"                # turn queries and keys by real time

[model.mixer]
kind = "softmax"
heads = 4

[data]
kind = "event_files"
files = [{files}]
{columns}length = {length}                   # events that the model sees
validation = 0.1              # of the sequences, or of the only one its last events

[optim]
lr = 3e-3
weight_decay = 0.1
schedule.kind = "cosine"
schedule.warmup = {warmup}
clip = 1.0

[train]
batch = 16
steps = {steps}
validate.every = {validate}
)"},
    {"field",
     R"(# The next frame of films of fields: NPY files (frames, height, width), or of several films
# (films, frames, height, width) or (films, frames, height, width, components). See docs/space-time.md.

[model]
kind = "field"
blocks = 2
width = 32
patch.pixels = 2              # 2 x 2 pixels are a token

[model.encoding]
kind = "fused"                # a learned projection of space and time
space = 32
time = 32

[model.mixer]
kind = "softmax"
heads = 4

[data]
kind = "field_files"
files = [{files}]
frames = 4                    # that the model sees
validation = 0.1              # of the films, or of the only one its last frames

[optim]
lr = 3e-3
schedule.kind = "cosine"
schedule.warmup = 50
clip = 1.0

[train]
batch = 16
steps = 1000
validate.every = 250
)"},
    {"gp",
     R"(# A column of a table from others with its uncertainty: a Gaussian process. See docs/gp.md.

[model]
kind = "gp"

[model.gp]
trend = "linear"
method = {method:<21}# features: for many rows
density.kind = "gaussian"     # of each input; others: student_t, mixture, ...
density.start = "search"      # the likeliest of some scales and noises

[data]
kind = "table"
files = [{files}]
{columns}rows = {rows}                      # that a step sees, 0 for all
validation = 0.1              # of the rows, any of them

[optim]
lr = 0.03
schedule.kind = "cosine"
schedule.warmup = 10

[train]
batch = 1
steps = 150
validate.every = 50
)"},
    {"vae",
     R"(# A latent variable from which images come: a variational autoencoder. See docs/vae.md.

[model]
kind = "vae"
blocks = 2
width = 64
patch.pixels = 4              # a token is a square of 4 x 4 pixels, which divides the images
mixer = {{ kind = "softmax", heads = 4 }}

[model.vae]
latent = 16
warmup = 100                  # steps in which the prior comes to count

[data]
kind = "images"               # IDX or CIFAR; or shapes, series, bytes
files = [{files}]
validation = 0.1              # of the images, the last ones

[optim]
lr = 2e-3
schedule.kind = "cosine"
schedule.warmup = {warmup}

[train]
batch = 32
steps = {steps}
validate.every = {validate}
)"},
    {"contrastive",
     R"(# Embeddings of images without labels. See docs/contrast.md, also for series and events.

[model]
kind = "contrastive"
blocks = 2
width = 64
positions = "learned"
patch.pixels = 7              # 7 x 7 pixels are a token; must divide both sides

[model.contrast]
kind = "prototypes"           # or info_nce: two views of each image alone
clusters = [20, 40, 80]
start = 5                     # epochs before the first clustering
temperature = 0.07

[model.mixer]
kind = "softmax"
heads = 4

[data]
kind = "images"
files = [{files}]
views.shift = 0.07            # how much two views of an image differ, in its side
views.rotate = 12             # in degrees
validation = 0.1              # of the images, the last ones

[optim]
lr = 3e-3
schedule.kind = "cosine"
schedule.warmup = 50
clip = 1.0

[train]
batch = 128
steps = 2000
validate.every = 500
)"}};

}  // namespace bochner
