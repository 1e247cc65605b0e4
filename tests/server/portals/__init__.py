"""Tests of what other portals speak."""
