"""Policy: when graphs are evaluated, where steps run, and what is counted."""
