"""Trains small models of every mixer, feature map, density, projection and encoding for a few steps, exports them to
PyTorch, and compares outputs and losses of a batch with the product's: models.py BOCHNER [WORD...]. Without words it writes
PyTorch's losses to models.txt, for the test golden.losses, which needs no PyTorch."""
import importlib
import inspect
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

import numpy
import torch

TOLERANCE = 1e-5

COMMON = """
[model]
blocks = 2
width = 16
expansion = 2
[model.mixer]
heads = 2
[optim]
lr = 0.02
epsilon = 1e-4 # biases before a norm only have gradients of rounding errors, which must not become steps
schedule = { kind = "constant", warmup = 0 }
[train]
batch = 3
steps = 4
validate = { every = "0" }
checkpoint = { every = "0" }
"""
DATA = {
    "lm": '[data]\nkind = "recall"\nlength = 24\n',
    "text": '[data]\nkind = "bytes"\nlength = 40\nfiles = ["text.txt"]\n',
    "classifier": '[data]\nkind = "listops"\nlength = 24\n',
    "images": '[data]\nkind = "shapes"\n',
    "events": '[data]\nkind = "hawkes"\nlength = 20\ntypes = 3\n',
    "forecaster": '[data]\nkind = "series"\nfiles = ["series.csv"]\nlookback = 24\nhorizon = 6\nsplits = [200, 40, 40]\n',
    "stores": '[data]\nkind = "series"\nfiles = ["stores.csv"]\nseries = "store"\nknown = "price"\nlookback = 24\nhorizon = 6\n',
    "field": '[data]\nkind = "moving_pattern"\nframes = 3\nheight = 4\nwidth = 6\n',
    "vae-images": '[data]\nkind = "shapes"\nside = 12\n',
    "vae-series": '[data]\nkind = "series"\nfiles = ["series.csv"]\nlookback = 24\nsplits = [200, 40, 40]\n',
    "vae-bytes": '[data]\nkind = "bytes"\nlength = 12\nfiles = ["text.txt"]\n',
    "bank": '[data]\nkind = "labelled_series"\nfiles = ["waves.csv"]\ncolumns = ["x", "y"]\nvalidation = 0\n',
    "bank-numbers": '[data]\nkind = "labelled_series"\nfiles = ["numbers.csv"]\nlabels = "numbers"\nvalidation = 0\n',
    "series": '[data]\nkind = "labelled_series"\nfiles = ["waves.ts"]\n',
    "numbers": '[data]\nkind = "labelled_series"\nlabels = "numbers"\nfiles = ["slopes.csv"]\n',
    "sensors": '[data]\nkind = "sensors"\nfiles = ["sensors.csv"]\nlength = 12\nplace_columns = ["x", "y"]\n',
}
KIND = {"text": "lm", "stores": "forecaster", "images": "classifier", "sensors": "field"}
KIND |= {"bank": "filter_bank", "bank-numbers": "filter_bank", "series": "classifier", "numbers": "regressor"}
KIND |= {data: "vae" for data in DATA if data.startswith("vae-")}

MAPS = """positive hyperbolic trigonometric pff wpff wpff_fixed fourier nonstationary oprf saderf sderf aderf hybrid_angular
hybrid_gaussian hybrid_cluster hybrid_learned hybrid identity elu relu squared_relu t2r hedgehog taylor rebased dpfp cosformer""".split()
DENSITIES = """gaussian gaussian_full mixture student_t cauchy laplace gamma exponential radial flow free""".split()
MIXERS = "softmax linear hgrn2 ssm min_gru mlstm hyena h3 sgconv long_conv".split()
LATER_MIXERS = "mamba mamba2 rwkv7 log_linear".split()  # not in mixed models, whose random draws would change
ENCODINGS = "fused space time additive concatenated multiplicative".split()
TIMES = DENSITIES + ["mercer", "mercer_summed", "sinusoidal"]
# Keys that are combined at random: for all models, and for one kind of data.
MIXED = {
    "model.norm": ["layer", "rms"],
    "model.mlp": ["gelu", "swiglu", "glu", "none"],
    "model.blocks": [1, 2, 3],
    "model.positions": ["learned", "sinusoidal", "none"],
    "model.mixer.kind": MIXERS,
}
MIXED_OF = {
    "lm": {},
    "classifier": {"model.pooling": ["mean", "cls"]},
    "forecaster": {
        "model.backbone": ["attention"],
        "model.patch.length": [4, 6, 8],
        "model.patch.stride": [2, 3, 4, 5],
        "model.instance_norm.kind": ["none", "last", "mean", "revin"],
        "model.loss": ["mse", "mae", "huber", "quantile"],
    },
    "events": {
        "model.mixer.kind": ["softmax", "linear"],
        "model.time.kind": ["mercer", "mercer_summed"],
        "model.time.degree": [0, 1, 3],
        "model.time.use": ["concatenate", "add", "attend"],
    },
}


def mixed_cases():
    for data, own in MIXED_OF.items():
        for number in range(4):
            random = Random(number)
            yield f"mixed-{data}-{number}", data, {key: random.choice(values) for key, values in (MIXED | own).items()}


def cases():
    """Yields name, data and keys."""

    def case(name, data="lm", **keys):
        return name, data, {key.replace("__", "."): value for key, value in keys.items()}

    def linear(name, data="lm", **keys):
        return case(name, data, model__mixer__kind="linear", **keys)

    for data in ("lm", "classifier", "forecaster"):
        backbone = {"model__backbone": "attention", "model__patch__length": 6, "model__patch__stride": 3}
        keys = backbone if data == "forecaster" else {}
        for mixer in MIXERS + LATER_MIXERS:
            yield case(f"{data}-{mixer}", data, model__mixer__kind=mixer, **keys)
        for kind in ("decay", "gate", "rotation", "spectral"):
            yield linear(f"{data}-linear-{kind}", data, model__mixer__time_kernel__kind=kind, **keys)
        for update in ("sum", "delta"):
            for kind in ("decay", "gate"):
                channel = {"model__mixer__time_kernel__kind": kind, "model__mixer__time_kernel__per": "channel"}
                yield linear(f"{data}-{update}-{kind}-channel", data, model__mixer__update=update, **channel, **keys)
        yield linear(f"{data}-delta", data, model__mixer__update="delta", model__mixer__delta__negative=True, **keys)
        for name in ("s4d", "dss", "s5", "lru", "ema"):
            yield case(f"{data}-ssm-{name}", data, model__mixer__kind="ssm", model__mixer__ssm__form=name, **keys)
        for name in ("implicit", "explicit", "dyadic", "exponential", "spectral"):
            yield case(f"{data}-hyena-{name}", data, model__mixer__kind="hyena", model__mixer__filter__kind=name, **keys)
    for name in MAPS:
        yield linear(f"map-{name}", model__mixer__features__kind=name)
        yield linear(f"map-{name}-classifier", "classifier", model__mixer__features__kind=name, model__mixer__time_kernel__kind="decay")
    for name in ("taylor", "rebased"):
        channel = {"model__mixer__time_kernel__kind": "decay", "model__mixer__time_kernel__per": "channel"}
        yield linear(f"map-{name}-channel", model__mixer__features__kind=name, **channel)
    for name in DENSITIES:
        yield linear(f"density-{name}", model__mixer__density__kind=name)
        yield linear(
            f"kernel-{name}", model__mixer__time_kernel__kind="spectral", model__mixer__time_kernel__density__kind=name
        )
    yield linear("density-prior", model__mixer__density__prior=0.5)
    yield linear("density-flow-coupled", model__mixer__density__kind="flow", model__mixer__density__layers=3)
    yield linear("density-mixture-hard", model__mixer__density__kind="mixture", model__mixer__density__temperature=0.0)
    for name in ("gaussian", "gaussian_full", "mixture", "student_t", "cauchy", "laplace", "gamma", "exponential", "radial", "flow"):
        weights = {"model__mixer__features__weights": "importance", "model__mixer__density__proposal": "student_t"}
        yield linear(f"importance-{name}", model__mixer__density__kind=name, **weights)
    for name in ("fastfood", "sorf", "radial"):
        yield linear(f"projection-{name}", model__mixer__features__projection=name, model__mixer__features__spread=0.5)
    for name in ("learned", "normalized", "fixed"):
        yield linear(f"weights-{name}", model__mixer__features__weights=name)
        map = {"model__mixer__features__kind": {"normalized": "elu", "learned": "taylor"}.get(name, "hybrid_learned")}
        yield linear(f"weights-{name}-other", model__mixer__features__weights=name, **map)
    for name in ("gaussian", "angular", "clusters"):
        yield linear(f"hybrid-{name}", model__mixer__features__kind="hybrid", model__mixer__features__lambdas=name)
    positive = {"model__mixer__features__estimators": ["positive", "hyperbolic", "elu"]}
    yield linear("hybrid-positive", model__mixer__features__kind="hybrid", **positive)
    yield linear("hybrid-angular-smooth", model__mixer__features__kind="hybrid_angular", model__mixer__features__smooth=True)
    for name in ("clip", "smooth", "norm"):
        policy = {"model__mixer__denominator__kind": name, "model__mixer__features__kind": "trigonometric"}
        yield linear(f"denominator-{name}", **policy)
    channel = {"model__mixer__time_kernel__kind": "decay", "model__mixer__time_kernel__per": "channel"}
    yield linear("denominator-smooth-channel", model__mixer__denominator__kind="smooth", model__mixer__features__kind="fourier", **channel)
    for name in ("learned", "sinusoidal", "rotary", "none"):
        yield case(f"positions-{name}", model__positions=name)
    yield linear("l2-convolution-window", model__mixer__normalize="l2", model__mixer__convolution=3, model__mixer__window=5)
    yield linear("window-decay", model__mixer__window=5, model__mixer__time_kernel__kind="decay", model__mixer__features__temperature=True)
    yield case("softmax-window", model__mixer__window=6, model__mixer__time_kernel__kind="decay")
    for name in ("swiglu", "glu", "none"):
        yield case(f"mlp-{name}", model__mlp=name, model__norm="rms")
    several = {"model__mixer__delta__steps": 3, "model__mixer__delta__two_gates": True, "model__mixer__delta__negative": True}
    for data in ("lm", "classifier"):
        yield linear(f"{data}-delta-several", data, model__mixer__update="delta", model__mixer__time_kernel__kind="gate", **several)
    yield case("repeat", model__repeat=2, model__input_residual=True, model__zero_init=True)
    yield case("value-residual", model__value_residual=True, model__pattern=["hgrn2", "linear", "softmax"], model__blocks=3)
    yield case("head", model__tied_embeddings=True, model__logit_cap=3.0, model__z_loss=0.01, model__label_smoothing=0.1)
    yield case("norm-batch", "classifier", model__norm="batch")
    pattern = ["linear", "hgrn2", "softmax"]
    yield case("pattern", model__pattern=pattern, model__blocks=4, model__mixer__time_kernel__kind="gate", model__positions="rotary")
    yield case("ema", optim__ema=0.9)
    for form in ("glu", "half_glu", "linear", "none"):
        rule = {"model__mixer__ssm__discretisation": "bilinear"}
        yield case(f"ssm-{form}", model__mixer__kind="ssm", model__mixer__ssm__output=form, model__mixer__convolution=2, **rule)
    for data, kind in (("lm", "gate"), ("classifier", "decay"), ("events", "gate")):
        levels = {"model__mixer__log_linear__levels": 3, "model__mixer__time_kernel__kind": kind}
        yield case(f"{data}-log_linear-{kind}", data, model__mixer__kind="log_linear", **levels)
    yield case("hyena-code", model__mixer__kind="hyena", model__mixer__hyena__form="code", model__mixer__hyena__order=3)
    yield case("hyena-positions", model__mixer__kind="hyena", model__mixer__filter__learn_positions=True)
    for data in ("lm", "classifier"):
        yield case(f"{data}-h3-heads", data, model__mixer__kind="h3", model__mixer__h3__channels=4, model__mixer__h3__shifted="value")
        yield case(f"{data}-sgconv-pieces", data, model__mixer__kind="sgconv", model__mixer__filter__piece=3)
    yield case("long-conv-smooth", model__mixer__kind="long_conv", model__mixer__filter__smooth=2)
    for candidate in ("positive", "linear"):
        yield case(f"min-gru-{candidate}", model__mixer__kind="min_gru", model__mixer__min_gru__candidate=candidate)
    stacked = ["linear", "hyena"]
    yield case("pattern-cosformer-hyena", model__pattern=stacked, model__mixer__features__kind="cosformer", model__mixer__features__length=64)
    yield linear("harmonics", model__mixer__time_kernel__kind="spectral", model__mixer__time_kernel__harmonics=3)
    for name in ENCODINGS:
        small = {"model__encoding__space": 3, "model__encoding__time": 2}
        yield case(f"text-{name}", "text", model__positions="encoding", model__encoding__kind=name, **small)
        yield case(f"field-{name}", "field", model__encoding__kind=name, **small)
        yield case(f"sensors-{name}", "sensors", model__encoding__kind=name, **small)
    yield case("text-every-block", "text", model__positions="encoding", model__encoding__every_block=True)
    yield case("field-none", "field", model__encoding__kind="none")
    yield case("field-patch", "field", model__patch__pixels=2, model__mixer__kind="linear")
    yield case("field-3d", "field", data__dimensions=3, data__planes=4, model__patch__pixels=2)
    axes = {"model__encoding__frequencies": "axes", "model__encoding__space": 4, "model__encoding__time": 2}
    yield case("field-axes", "field", **axes)
    for name in ("mean", "cls"):
        yield case(f"images-{name}", "images", model__positions="encoding", model__pooling=name)
    for name in TIMES:
        yield case(f"time-{name}", "events", model__time__kind=name, model__time__m=4)
    for use in ("add", "attend", "rotate"):
        yield case(f"time-{use}", "events", model__time__kind="free", model__time__use=use)
    yield case("time-rotate-sinusoidal", "events", model__time__kind="sinusoidal", model__time__use="rotate")
    grid = {"model__time__spacing": "linear", "model__time__endpoint": False}
    yield case("time-grid", "events", model__time__kind="sinusoidal", model__time__m=4, **grid)
    yield case("time-mercer-unpaired", "events", model__time__kind="mercer", model__time__paired=False)
    for name in ("mercer", "mercer_summed"):
        yield case(f"time-{name}-flat", "events", model__time__kind=name, model__time__degree=0, model__time__m=4)
    for mixer in ("linear", "softmax"):
        for kind in ("decay", "gate", "rotation", "spectral")[: 1 if mixer == "softmax" else 4]:
            kernel = {"model__mixer__kind": mixer, "model__mixer__time_kernel__kind": kind}
            yield case(f"events-{mixer}-{kind}", "events", **kernel)
            yield case(f"events-lm-{mixer}-{kind}", "events", model__kind="lm", **kernel)
    yield case("events-s5", "events", model__mixer__kind="ssm", model__mixer__ssm__form="s5")
    yield linear("events-delta", "events", model__mixer__update="delta", model__mixer__time_kernel__kind="gate")
    yield case("events-places", "events", data__dimensions=2)
    for name in ("none", "last", "mean", "revin"):
        norm = {"model__instance_norm__kind": name, "model__instance_norm__affine": name == "revin"}
        yield case(f"forecaster-{name}", "forecaster", **norm)
    yield case("forecaster-trend", "forecaster", model__moving_average=5, model__per_variate=True, model__loss="huber")
    ending = {"model__patch__length": 6, "model__patch__stride": 4}  # with the window: pads two rows before the first
    yield case("forecaster-stride", "forecaster", model__backbone="attention", **ending)
    patches = {"model__patch__length": 6, "model__patch__stride": 3, "model__effects": 0}
    known = {"model__loss": "quantile", "data__calendar": ["hour"]}
    for backbone, keys in (("linear", known), ("attention", patches), ("rows", known)):
        yield case(f"forecaster-stores-{backbone}", "stores", model__backbone=backbone, model__series_width=2, **keys)
    for kind in ("none", "free"):
        rows = {"model__backbone": "rows", "model__time__kind": kind, "data__stamps": kind == "free"}
        yield case(f"forecaster-rows-{kind}", "forecaster", model__mixer__kind="linear", model__mixer__time_kernel__kind="decay", **rows)
    yield from bank_cases(case)
    yield from vae_cases(case)
    yield from series_cases(case)


def series_cases(case):
    patch = {"model__patch__length": 5, "model__patch__stride": 3, "data__validation": 0.2}
    for name in ("mean", "cls"):
        yield case(f"series-{name}", "series", model__pooling=name, model__label_smoothing=0.1, **patch)
    alike = {"model__standardize": "series", "model__positions": "sinusoidal", "model__mixer__kind": "hyena"}
    yield case("series-alike", "series", **patch | alike)
    for name in ("mse", "mae", "huber", "quantile", "gaussian"):
        yield case(f"numbers-{name}", "numbers", model__loss=name, **patch)


def bank_cases(case):
    pools = {"model__pools": ["winners", "positive", "maximum", "mean"], "model__standardize": "series"}
    yield case("bank", "bank", model__groups=2)
    yield case("bank-pools", "bank", model__groups=1, model__taps=5, model__each_scale=True, **pools)
    yield case("bank-rows", "bank", model__groups=1, model__differences=False, model__density__kind="flow")
    yield case("bank-numbers", "bank-numbers", model__groups=1)


def vae_cases(case):
    tokens = {"vae-images": {"model__patch__pixels": 4}, "vae-series": {"model__patch__length": 6}, "vae-bytes": {}}
    for data, keys in tokens.items():
        keys = {"model__vae__latent": 3, "model__vae__draws": 2, **keys}
        yield case(data, data, **keys)
        yield case(f"{data}-mean", data, model__vae__pooling="mean", model__vae__decoder_blocks=1, **keys)
        for name in ("relaxed", "straight_through", "exact"):
            discrete = {"model__vae__discrete__" + key: value for key, value in
                        {"categories": 3, "variables": 2, "gradient": name}.items()}
            yield case(f"{data}-{name}", data, **keys | discrete)
    series = tokens["vae-series"] | {"model__vae__variance": "of_z"}
    yield case("vae-variance", "vae-series", **series)
    discrete = {"model__vae__latent": 0, "model__vae__discrete__categories": 4, "model__vae__discrete__anneal": 3}
    yield case("vae-discrete-variance", "vae-series", model__blocks=0, **series | discrete)


def write_files():
    run(str(Path(__file__).resolve().with_name("files")))


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")


def arguments(function, batch):
    """Returns the arrays of a batch that a function takes, indices as whole numbers."""
    indices = ("tokens", "types", "next_types", "lengths", "series")
    names = [name for name in inspect.signature(function).parameters if name in batch]
    given = {}
    for name in names:
        array = torch.from_numpy(batch[name])
        is_label = name == "targets" and "tokens" in batch
        given[name] = array.long() if name in indices or is_label else array
    return given


def numbers_of(file):
    data = Path(file).read_bytes()
    return data[8 + int.from_bytes(data[:8], "little") :]


def with_old_positions(file):
    """Sets positions that fields ignore, as older runs may have."""
    data = Path(file).read_bytes()
    Path(file).write_bytes(data.replace(rb'positions = \"learned\"', rb'positions = \"rotary\" '))


def require_error_for_custom_loss(model, batch):
    """Throws unless a model of labels refuses a loss that only the program which trained it has."""
    model.config["model.loss"] = "custom"
    try:
        model.loss(**arguments(model.loss, batch))
    except NotImplementedError:
        return
    raise RuntimeError("computes another loss than the custom one")


def compare(bochner, name, data, keys):
    """Returns the largest difference of outputs, relative to their size, and that of the losses."""
    keys = {"model.kind": KIND.get(data, data)} | keys
    if {"linear", "log_linear"} & {keys.get("model.mixer.kind"), *keys.get("model.pattern", [])}:
        keys["model.mixer.m"] = 8
    Path("common.toml").write_text(COMMON)
    sets = [word for key, value in keys.items() for word in ("--set", f"{key}={json.dumps(value)}")]
    sets += [word for line in DATA[data].splitlines()[1:] for word in ("--set", "data." + line.replace(" = ", "=", 1))]
    package = "m_" + "".join(c if c.isalnum() else "_" for c in name)
    run(bochner, "train", "common.toml", "--run", f"runs/{name}", "--progress", "none", "--threads", "1", *sets)
    run(bochner, "export", f"runs/{name}", "--torch", package)
    run(bochner, "data", "batch", f"runs/{name}", "--step", "7", "-o", f"{name}.npz")
    run(bochner, "export", f"runs/{name}", "-o", f"{name}.safetensors")
    module = importlib.import_module(package)
    model = module.load()
    module.save(model, "saved.safetensors")
    run(bochner, "import", "saved.safetensors", "--run", f"back/{name}")
    run(bochner, "export", f"back/{name}", "-o", "back.safetensors")
    if numbers_of("back.safetensors") != numbers_of(f"{name}.safetensors"):
        raise RuntimeError("import changed bits")
    if keys["model.kind"] == "field":
        with_old_positions(f"{name}.safetensors")
    model, batch = module.load(f"{name}.safetensors").double(), dict(numpy.load(f"{name}.npz"))
    if data == "sensors":
        batch["times"] += 1000  # the model uses times since the first row
    with torch.no_grad():
        outputs = model(**arguments(model.forward, batch)).numpy()
        loss = float(model.loss(**arguments(model.loss, batch)))
        if keys["model.kind"] in ("lm", "classifier"):
            require_error_for_custom_loss(model, batch)
    size = max(1.0, float(numpy.abs(batch["outputs"]).max()))
    apart = abs(loss - batch["loss"]) / max(1.0, abs(batch["loss"]))
    return numpy.abs(outputs - batch["outputs"]).max() / size, apart, "\t".join([name, f"{loss:.8g}", *sets[1::2]])


def main():
    bochner, words = sys.argv[1], sys.argv[2:]
    torch.set_num_threads(1)
    wrong, lines, worst, count = [], [], 0.0, 0
    golden = Path(__file__).resolve().with_name("models.txt")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.path.insert(0, folder)
        write_files()
        for name, data, keys in (*cases(), *mixed_cases()):
            if words and not any(word in name for word in words):
                continue
            count += 1
            try:
                outputs, loss, line = compare(bochner, name, data, keys)
            except Exception as error:
                wrong.append(name)
                print(f"{name:32} {type(error).__name__}: {str(error)[-300:]}", flush=True)
                continue
            worst = max(worst, outputs, loss)
            lines.append(line + "\n")
            is_far = not (outputs < TOLERANCE and loss < TOLERANCE)
            wrong += [name] if is_far else []
            print(f"{name:32} outputs {outputs:.1e}  loss {loss:.1e}{'  FAR' if is_far else ''}", flush=True)
    print(f"{count} models, {len(wrong)} apart, largest difference {worst:.1e}")
    if not words and not wrong:
        golden.write_text("".join(lines))
        print(f"the losses by PyTorch are in {golden.name}, for losses")
    sys.exit(1 if wrong else 0)


main()
