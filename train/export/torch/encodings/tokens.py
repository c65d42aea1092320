"""Common parts of token models below their heads."""
import torch

from .blocks import BlockStack
from .parts import Embedding, Layout, Part
from .positions import positions
from .space_time import placed, space_time
from .time import TimeInput, TimeScale, gaps_of


class Trunk(Part):
    """Embedding, times, positions, encoding of places, blocks; its tensors have no prefix. tokens (B, T),
    lengths (B), times (B, T) -> (B, T, D)"""

    def __init__(self, at, causal):
        super().__init__(at)
        self.embedding = Embedding(at / "embedding")
        self.time_scale = TimeScale(at / "time_scale") if at.has("time_scale") else None
        self.time_input = TimeInput(at) if self.time_scale else None
        self.positions = positions(at)
        in_places = at.config["model.positions"] == "encoding"
        self.encoding = space_time(at / "encoding") if in_places else None
        self.stack = BlockStack(at, causal)

    def forward(self, tokens, lengths=None, times=None):
        x, layout, each = self.embedding(tokens), Layout(lengths), None
        if self.time_scale:
            times = self.time_scale(times)
            x, layout = self.time_input(x, times), Layout(lengths, gaps_of(times), times)
        if self.positions:
            x = self.positions(x)
        if self.encoding:
            x, each = placed(self.config, x, self.encoding(*self.places(tokens)).to(x))
        return self.stack(x, layout, each)

    def places(self, tokens):
        """Places of an image are row and column of a pixel in units of its sides, times its channel in units of their
        number; a class token is one pixel before the first. In a text, times are the number of a part, places that
        of the token in it, both in units of data.length."""
        if self.sizes.get("rows"):
            return self.pixels(tokens)
        unit, ends = self.sizes["length"], self.separator()
        places, times = torch.zeros(*tokens.shape, 1), torch.zeros(tokens.shape)
        for b, row in enumerate(tokens.tolist()):
            part = place = 0
            recent = []
            for t, token in enumerate(row):
                places[b, t, 0], times[b, t] = place, part
                recent, place = (recent + [token])[-len(ends) :], place + 1
                if recent == ends:
                    recent, place, part = [], 0, part + 1
        return places.double().to(tokens.device) / unit, times.double().to(tokens.device) / unit

    def pixels(self, tokens):
        rows, columns, channels = (self.sizes[name] for name in ("rows", "columns", "channels"))
        first = int(self.config["model.pooling"] == "cls")
        i = torch.arange(tokens.shape[1] - first, device=tokens.device)
        row, column = i // channels // columns, i // channels % columns
        places = torch.stack([row.double() / rows, column.double() / columns], -1)
        times = (i % channels).double() / channels
        if first:
            places = torch.cat([torch.tensor([[-1 / rows, -1 / columns]]).to(places), places])
            times = torch.cat([torch.zeros(1).to(times), times])
        return places.expand(len(tokens), -1, -1), times.expand(len(tokens), -1)

    def separator(self):
        """The tokens that end a part of a text: bytes, or the last of the vocabulary."""
        if self.config["data.kind"] != "bytes":
            return [len(self.embedding.weight) - 1]
        return list(self.config["data.separator"].encode().decode("unicode_escape").encode("latin1"))
