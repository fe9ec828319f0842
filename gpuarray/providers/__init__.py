"""Who runs steps."""
