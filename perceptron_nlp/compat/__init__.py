"""The names and calls of other libraries, answered by this one."""
