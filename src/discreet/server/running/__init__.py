"""The program that answers: data sets, application, workers, connections."""
