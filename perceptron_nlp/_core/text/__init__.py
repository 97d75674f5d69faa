"""Running text cut and labeled as bytes."""
