"""TensorBoard's event files, written as a whole and without torch."""

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.summary.writer.record_writer import RecordWriter

from gymspace.records import write_atomic


def write_events(path: Path, events: Iterable[Event]) -> None:
    """Write ``events`` to ``path`` in one step, unless the file holds the same already."""
    buffer = BytesIO()
    writer = RecordWriter(buffer)
    for event in (Event(file_version="brain.Event:2"), *events):
        writer.write(event.SerializeToString(deterministic=True))
    content = buffer.getvalue()
    if not path.exists() or path.read_bytes() != content:
        write_atomic(path, lambda part: part.write_bytes(content))
