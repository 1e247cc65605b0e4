"""What every room stands on: files, text, kinds of argument, time limits, verdicts, compiled loops, workers."""
