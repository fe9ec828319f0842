"""Text and files: NumPy formats, writes and reads them on the host."""

import numpy as np

from gpuarray.functions.fallback import hosted
from gpuarray.functions.registry import FILES, TEXT_OUT

__all__ = [
    "array2string", "array_repr", "array_str", "frombuffer", "fromfile", "fromiter", "fromregex", "fromstring",
    "genfromtxt", "load", "loadtxt", "save", "savetxt", "savez", "savez_compressed",
]  # fmt: skip

array2string = hosted(np.array2string, TEXT_OUT)
array_repr = hosted(np.array_repr, TEXT_OUT)
array_str = hosted(np.array_str, TEXT_OUT)
frombuffer = hosted(np.frombuffer, FILES)
fromfile = hosted(np.fromfile, FILES)
fromiter = hosted(np.fromiter, FILES)
fromregex = hosted(np.fromregex, FILES, is_registered=False)
fromstring = hosted(np.fromstring, FILES)
genfromtxt = hosted(np.genfromtxt, FILES)
load = hosted(np.load, FILES, is_registered=False)
loadtxt = hosted(np.loadtxt, FILES)
save = hosted(np.save, FILES)
savetxt = hosted(np.savetxt, FILES)
savez = hosted(np.savez, FILES)
savez_compressed = hosted(np.savez_compressed, FILES)
