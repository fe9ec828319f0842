"""Steps as WGSL text: pure functions that need no GPU."""
