"""Toy workers for the tests of the slots; torch is imported only where it is used."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from gymspace.errors import ConfigError


class OnlyHere:
    """Can be pickled, but is not found again by the parent."""

    def __reduce__(self):
        return ImportError, (), None, None, iter([("x", 1)])


class Toy:
    """Does what the payload, a (verb, *arguments) tuple, says."""

    def __init__(self, rank, ranks):
        self.rank, self.ranks, self.count = rank, ranks, 0

    def __call__(self, payload, report):
        self.count += 1
        verb, *arguments = payload
        return getattr(self, verb)(report, *arguments)

    def echo(self, report, value):
        return value

    def pid(self, report):
        return os.getpid()

    def counted(self, report):
        return self.count

    def sleep(self, report, seconds, *rest):
        report(os.getpid())
        time.sleep(seconds)

    def meet(self, report, folder, name, other):
        """Return only when another job is there at the same time."""
        Path(folder, name).touch()
        while not Path(folder, other).exists():
            time.sleep(0.01)
        return name

    def reports(self, report, number):
        for i in range(number):
            report(i)
        return number

    def asks(self, report, number):
        return [report(i, True) for i in range(number)]

    def asks_once(self, report):
        return report(os.getpid(), True)

    def looks(self, report):
        """Report until something is said."""
        while (said := report("still here")) is None:
            time.sleep(0.01)
        return said

    def wrong(self, report):
        raise ValueError("two\nlines")

    def config(self, report):
        raise ConfigError("model.layer", "no such layer", value="gatt", choices=["gat"])

    def memory(self, report):
        raise MemoryError("no more")

    def leave(self, report):
        sys.exit(4)

    def exit(self, report, code):
        print("last words", file=sys.stderr)
        os._exit(code)

    def segfault(self, report):
        os.kill(os.getpid(), signal.SIGSEGV)

    def unpicklable(self, report):
        return lambda: None

    def unreadable(self, report):
        return OnlyHere()

    def printing(self, report, text):
        print(text)

    def grandchild(self, report):
        report(subprocess.Popen(["sleep", "1000"]).pid)
        time.sleep(1000)

    def environment(self, report):
        main = sys.modules["__main__"]
        names = ("OMP_NUM_THREADS", "OMP_WAIT_POLICY")
        return [os.environ[n] for n in names], sorted(n for n in vars(main) if n == "CANARY")

    def modules(self, report):
        return sorted(sys.modules)

    def descriptors(self, report):
        return len(list(Path("/proc/self/fd").iterdir()))


class Group(Toy):
    """Ranks that talk to each other."""

    def total(self, report, value):
        import torch

        tensor = torch.tensor(float(value + self.rank))
        torch.distributed.all_reduce(tensor)
        return tensor.item()

    def one_fails(self, report, rank):
        if self.rank == rank:
            raise ValueError("mine")
        return self.total(report, 0)

    def one_dies(self, report, rank):
        if self.rank == rank:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.total(report, 0)

    def first_asks(self, report):
        """Rank 0 waits for an answer, the others for rank 0."""
        said = report(os.getpid(), True)
        return said, self.total(report, 0)

    def too_large(self, report):
        import torch

        return torch.empty(10**14)

    def one_lags(self, report):
        if self.rank == 1:
            time.sleep(1000)
        return "result"


class Broken:
    """Cannot be made."""

    def __init__(self, rank, ranks):
        raise ConfigError("device", "no such device")
