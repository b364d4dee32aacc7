"""What a sweep says: rankings, importance, similarity, comparisons; frames in, frames out."""
