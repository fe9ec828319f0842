"""Neighbours: other packages' arrays, each optional and imported only when asked for."""
