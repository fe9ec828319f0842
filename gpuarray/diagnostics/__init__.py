"""What this package tells about itself: the environment it runs in, and the demonstration."""
