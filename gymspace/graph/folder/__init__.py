"""A folder of the user's own: nodes, edges and graphs as CSV or Parquet, checked to the row."""
