"""The one exception for what a user can mend: its text is a single line that says what and how."""

import errno
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from traceback import extract_tb
from typing import Any

_ABSENT = object()
# Where torch's allocator for the CPU fails there is no class for it, only this.
NO_MEMORY = "can't allocate memory"


class ConfigError(Exception):
    """A mistake in what was asked for; ends the program with exit code 2 before any work starts."""

    def __init__(
        self,
        key: str,
        problem: str,
        *,
        value: Any = _ABSENT,
        choices: Iterable[Any] = (),
        near: Any = _ABSENT,
    ):
        """Compose the line: key, value, problem, valid choices and the one nearest to the value.

        ``near`` is what to look for among the choices when that is not the value itself.
        """
        subject = key if value is _ABSENT else f"{key}={value}"
        names = [str(choice) for choice in choices]
        text = f"{subject}: {problem}"
        if names:
            text += f"; choices: {', '.join(names)}"
            close = get_close_matches(str(value if near is _ABSENT else near), names, n=1)
            text += f"; did you mean {close[0]}?" if close else ""
        super().__init__(" ".join(text.split()))
        self.key = key

    def __reduce__(self):
        return _rebuild, (self.key, str(self))


def place(error: BaseException) -> str:
    """Where an error of the user's code was raised."""
    frames = extract_tb(error.__traceback__)
    return f"at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def lacks_memory(error: BaseException) -> bool:
    """Whether ``error`` says that memory ran out, of the machine or of a GPU."""
    torch = sys.modules.get("torch")
    classes = (MemoryError, torch.OutOfMemoryError) if torch else MemoryError
    if isinstance(error, classes) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return isinstance(error, RuntimeError) and NO_MEMORY in str(error)


def _rebuild(key: str, text: str) -> ConfigError:
    error = ConfigError.__new__(ConfigError)
    Exception.__init__(error, text)
    error.key = key
    return error
