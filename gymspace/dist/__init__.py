"""Warm processes that run trials."""
