"""Frequencies that are parameters."""
from .gaussian import Density
from .parts import form


@form("density", "free")
class FreeDensity(Density):
    learned = ("frequencies",)

    def draws(self):
        return self.frequencies
