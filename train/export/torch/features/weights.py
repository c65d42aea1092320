"""Files of weights: safetensors, with the config of their run."""
import ctypes
import json
import struct
import tomllib
from pathlib import Path

import torch

from .parts import Place, make, tensors_of

TYPES = {"F32": torch.float32, "F64": torch.float64}
OWN = Path(__file__).with_name("model.safetensors")
# Keys that sizes depend on.
SIZED = ("model.kind", "model.backbone", "model.pooling", "model.patch.", "data.kind", "data.length", "data.frames",
         "data.lookback", "data.horizon", "data.height", "data.width", "data.planes", "data.tokens")


def flat(table, name=""):
    """{"model": {"width": 8}} -> {"model.width": 8}"""
    keys = {}
    for key, value in table.items():
        keys |= flat(value, f"{name}{key}.") if isinstance(value, dict) else {name + key: value}
    return keys


class File:
    """Reads a safetensors file: the length of a JSON header, the header, the numbers of the tensors."""

    def __init__(self, path):
        data = bytearray(Path(path).read_bytes())
        end = 8 + struct.unpack_from("<Q", data)[0]
        header = json.loads(data[8:end])
        self.metadata = header.pop("__metadata__", {})
        if "config" not in self.metadata:
            raise ValueError(f"{path}: has no config; bochner export writes one with the weights")
        self.config = flat(tomllib.loads(self.metadata.get("keys", self.metadata["config"])))
        self.sizes = json.loads(self.metadata["sizes"]) if "sizes" in self.metadata else own_sizes(path, self.config)
        self.tensors, self.taken = {}, set()
        for name, entry in header.items():
            first, last = (end + offset for offset in entry["data_offsets"])
            dtype = TYPES[entry["dtype"]]
            numbers = torch.frombuffer(data[first:last], dtype=dtype) if last > first else torch.zeros(0, dtype=dtype)
            self.tensors[name] = numbers.reshape(entry["shape"])


def own_sizes(path, config):
    """Returns this package's sizes, for a file of the same model by `bochner export --output`, which has neither them
    nor the keys that do not apply."""
    own = File(OWN)
    for key, value in own.config.items():
        if config.setdefault(key, value) != value and key.startswith(SIZED):
            raise ValueError(f"{path}: its model differs from this package's in {key}; export --torch writes its own")
    return own.sizes


def load(path=None):
    """Loads a model with its weights, in evaluation mode: the package's own file, or one that `bochner export` wrote
    from a run of the same model."""
    file = File(path or OWN)
    if file.config["model.kind"] == "field":
        file.config["model.positions"] = "none"  # its tokens have no order
    named = {("field", "sensors"): "sensors", ("classifier", "labelled_series"): "series_classifier"}
    kind = file.config["model.kind"]
    kind = named.get((kind, file.config["data.kind"]), kind)
    model = make("model", kind, Place(file))
    left = set(file.tensors) - file.taken
    if left:
        raise ValueError(f"tensors that the model does not have: {sorted(left)}")
    model.metadata = file.metadata
    return model.eval()


def save(model, path):
    """Writes the weights of a model for `bochner import`."""
    tensors = {name: each.detach().cpu().float().contiguous() for name, each in sorted(tensors_of(model).items())}
    header, offset = {"__metadata__": model.metadata}, 0
    for name, each in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(each.shape), "data_offsets": [offset, offset + 4 * each.numel()]}
        offset += 4 * each.numel()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for each in tensors.values():
            file.write(ctypes.string_at(each.data_ptr(), 4 * each.numel()))
