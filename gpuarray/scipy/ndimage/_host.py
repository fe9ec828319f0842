"""Functions that the host computes."""

from typing import Final

from scipy import ndimage

from gpuarray.scipy._mirror import hosted

__all__ = [
    "distance_transform_bf", "distance_transform_cdt", "extrema", "find_objects", "generic_filter", "generic_filter1d",
    "histogram", "labeled_comprehension", "maximum_position", "median", "minimum_position", "value_indices",
    "watershed_ift",
]  # fmt: skip

_ORDER: Final = "each step depends on the steps before it"
_CALLED: Final = "a Python function is called for each part"
_HOSTS: Final = "results are for the host"

distance_transform_bf = hosted(ndimage.distance_transform_bf, "distances to all elements are compared")
distance_transform_cdt = hosted(ndimage.distance_transform_cdt, _ORDER)
extrema = hosted(ndimage.extrema, _HOSTS)
find_objects = hosted(ndimage.find_objects, _HOSTS)
generic_filter = hosted(ndimage.generic_filter, f"{_CALLED}; vectorized_filter takes functions of arrays")
generic_filter1d = hosted(ndimage.generic_filter1d, _CALLED)
histogram = hosted(ndimage.histogram, _CALLED)
labeled_comprehension = hosted(ndimage.labeled_comprehension, _CALLED)
maximum_position = hosted(ndimage.maximum_position, _HOSTS)
median = hosted(ndimage.median, "elements are sorted by label")
minimum_position = hosted(ndimage.minimum_position, _HOSTS)
value_indices = hosted(ndimage.value_indices, _HOSTS)
watershed_ift = hosted(ndimage.watershed_ift, _ORDER)
