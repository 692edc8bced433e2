"""Tests of the ready-made agents and tool nodes."""
