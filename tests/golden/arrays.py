"""Writes arrays/: files of NumPy for the tests of our readers. Element i of an array, in row-major order, is
i * 37 % 101 (for signed and floating types minus 50), for bool whether that is odd.

    python arrays.py     NumPy 2.4
"""
import numpy as np

SHAPE = (2, 3, 4)


def array(name, shape=SHAPE):
    numbers = np.arange(int(np.prod(shape))) * 37 % 101
    kind = np.dtype(name).kind
    if kind == "b":
        numbers = numbers % 2
    elif kind != "u":
        numbers = numbers - 50
    return numbers.reshape(shape).astype(name)


def main():
    for name in ["f8", "f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"]:
        np.save(f"arrays/{name}.npy", array("<" + name))
    for name in ["f8", "f4", "i2", "u4", "i8"]:
        np.save(f"arrays/big_{name}.npy", array(">" + name))
    np.save("arrays/fortran_f8.npy", np.asfortranarray(array("<f8")))
    np.save("arrays/scalar.npy", array("<f8", ()))
    np.save("arrays/vector.npy", array("<f8", (5,)))
    np.save("arrays/empty.npy", array("<f8", (0, 3)))
    named = {"a": array("<f8", (5,)), "b c": array("<i2", (2, 3))}
    np.savez("arrays/stored.npz", **named)
    np.savez_compressed("arrays/deflated.npz", **named)


main()
