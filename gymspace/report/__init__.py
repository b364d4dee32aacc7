"""A sweep as one page for the browser."""
