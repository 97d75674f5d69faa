"""Study data and taggers: compare, doctor, inspect, tune, report, serve."""
