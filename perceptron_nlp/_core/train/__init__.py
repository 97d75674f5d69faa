"""Training sentences as numbers, and the learners that go over them."""
