"""Running text cut and labelled as bytes."""
