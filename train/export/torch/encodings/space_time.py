"""Use of encodings of points of space and time in models."""
import torch

from .parts import Part, make


def space_time(at):
    kind = at.config["model.encoding.kind"]
    return None if kind == "none" else make("encoding", kind, at)


def placed(config, x, code):
    """Returns tokens and the input of every block: adds the code to the content, concatenates, or defers it."""
    if config["model.encoding.kind"] == "concatenated":
        return torch.cat([x, code.expand(*x.shape[:2], -1)], -1), None
    if config["model.encoding.every_block"]:
        return x, code
    return x + code, None


class PlaceScale(Part):
    """(x - origin) / extent of places, t / span of times"""

    fixed = ("origin", "extent", "span")

    def forward(self, places, times):
        return (places.double() - self.origin.double()) / self.extent.double(), times.double() / self.span.double()
