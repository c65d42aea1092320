"""Lets gdb print a Tensor, Parameter or Var by its shape and first numbers; bochner_program has it loaded."""
import re

import gdb

MOST = 8  # numbers shown


def shape_of(svector):
    begin, rank = svector["m_begin"], int(svector["m_end"] - svector["m_begin"])
    if not 0 <= rank <= 16:
        raise gdb.MemoryError("not constructed")
    sizes = [str(int(begin[i])) for i in range(rank)]
    return "(" + ", ".join(sizes) + ("," if len(sizes) == 1 else "") + ")"


def numbers_of(tensor):
    begin, end = tensor["m_storage"]["p_begin"], tensor["m_storage"]["p_end"]
    count = int(end - begin)
    shown = ["%g" % float(begin[i]) for i in range(min(count, MOST))]
    return "{" + ", ".join(shown + ["..."] * (count > MOST)) + "}"


def text_of_tensor(tensor):
    return f"{shape_of(tensor['m_shape'])} {numbers_of(tensor)}"


def text_of_parameter(parameter):
    return text_of_tensor(parameter["value_"]["_M_ptr"].dereference())


def text_of_var(var):
    tensor, node = var["value_"]["_M_ptr"], var["node_"]["_M_ptr"]
    if not tensor and not node:
        return "omitted"
    shape = shape_of(node.dereference()["shape"] if node else tensor.dereference()["m_shape"])
    numbers = numbers_of(tensor.dereference()) if tensor else "without its value"
    end = f" of {node.dereference()['op'].string()}, needs gradient" if node else ""
    return f"{shape} {numbers}{end}"


KINDS = [
    ("Tensor", r"xt::xarray_container<xt::uvector<(float|double), bochner::PoolAllocator<.*", text_of_tensor),
    ("Parameter", r"bochner::(f32::|f64::)?Parameter", text_of_parameter),
    ("Var", r"bochner::(f32::|f64::)?Var", text_of_var),
]


class Printer:
    def __init__(self, kind, text_of, value):
        self.kind, self.text_of, self.value = kind, text_of, value

    def to_string(self):
        try:
            return f"{self.kind} {self.text_of(self.value)}"
        except gdb.MemoryError:
            return f"{self.kind}, not constructed"


def printer_of(value):
    if value.type.code == gdb.TYPE_CODE_REF:
        value = value.referenced_value()
    name = value.type.unqualified().strip_typedefs().tag or ""
    for kind, pattern, text_of in KINDS:
        if re.fullmatch(pattern, name):
            return Printer(kind, text_of, value)
    return None


gdb.pretty_printers.insert(0, printer_of)
