"""Functions that the host computes."""

from typing import Final

from scipy import ndimage

from gpuarray.scipy._mirror import hosted

__all__ = [
    "distance_transform_bf", "distance_transform_cdt", "find_objects", "labeled_comprehension", "value_indices",
    "watershed_ift",
]  # fmt: skip

_ORDER: Final = "each step depends on the steps before it"
_HOSTS: Final = "results are for the host"

distance_transform_bf = hosted(ndimage.distance_transform_bf, "distances to all elements are compared")
distance_transform_cdt = hosted(ndimage.distance_transform_cdt, _ORDER)
find_objects = hosted(ndimage.find_objects, _HOSTS)
labeled_comprehension = hosted(ndimage.labeled_comprehension, "a Python function is called for each part")
value_indices = hosted(ndimage.value_indices, _HOSTS)
watershed_ift = hosted(ndimage.watershed_ift, _ORDER)
