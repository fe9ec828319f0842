"""Where steps run: measured rates, an estimate, a decision, and where values are.

:mod:`.calibrate` measures :mod:`.rates`, which estimate times, with :mod:`.timing` and :mod:`.numpy_times`;
:mod:`.division` finds the cheapest division of a plan between host and device; :mod:`.decisions` states each decision
and its reason; :mod:`.auto` keeps placements with their plans; :mod:`.trials` decides when a device is looked for, and
whether mid-sized arrays are recorded; :mod:`.residency` moves values; :mod:`.tune` chooses kernel variants.
"""
