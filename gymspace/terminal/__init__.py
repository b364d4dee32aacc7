"""Questions about a sweep and their answers as tables and plots; `python -m gymspace.results`."""
