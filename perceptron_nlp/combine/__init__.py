"""One tagger out of several: models merged, training states mixed, distillation."""
