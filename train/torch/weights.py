"""Files of weights: safetensors, with the config of the run that they are of."""
import ctypes
import json
import struct
import tomllib
from pathlib import Path

import torch

from .parts import Place, make, tensors_of

TYPES = {"F32": torch.float32, "F64": torch.float64}


def flat(table, name=""):
    """{"model": {"width": 8}} -> {"model.width": 8}"""
    keys = {}
    for key, value in table.items():
        keys |= flat(value, f"{name}{key}.") if isinstance(value, dict) else {name + key: value}
    return keys


class File:
    """A safetensors file: the length of a JSON header, the header, the numbers of the tensors."""

    def __init__(self, path):
        data = bytearray(Path(path).read_bytes())
        end = 8 + struct.unpack_from("<Q", data)[0]
        header = json.loads(data[8:end])
        self.metadata = header.pop("__metadata__")
        self.config = flat(tomllib.loads(self.metadata["config"]))
        self.sizes = json.loads(self.metadata["sizes"])
        self.tensors, self.taken = {}, set()
        for name, entry in header.items():
            first, last = (end + offset for offset in entry["data_offsets"])
            dtype = TYPES[entry["dtype"]]
            numbers = torch.frombuffer(data[first:last], dtype=dtype) if last > first else torch.zeros(0, dtype=dtype)
            self.tensors[name] = numbers.reshape(entry["shape"])


def load(path=None):
    """The model of a file with its weights, in evaluation mode."""
    file = File(path or Path(__file__).with_name("model.safetensors"))
    kind = "sensors" if file.config["data.kind"] == "sensors" else file.config["model.kind"]
    model = make("model", kind, Place(file))
    left = set(file.tensors) - file.taken
    if left:
        raise ValueError(f"tensors that the model has no place for: {sorted(left)}")
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
