"""What becomes of the processes below a program that uses slots when the program ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dist.processes import alive, descendants, until

# There is no `if __name__ == "__main__"` on purpose: ranks must not run this program again.
PROGRAM = """
import sys
from pathlib import Path
from gymspace.dist.slots import Job, Progress, Slots, terminate_as_interrupt

CANARY = True
folder, worker, ranks, *verb = sys.argv[1:]
folder = Path(folder)
with (folder / "starts").open("a") as file:
    file.write("started\\n")
with terminate_as_interrupt(), Slots(worker, 2, int(ranks)) as slots:
    for event in slots.run(Job(str(i), tuple(verb)) for i in range(2)):
        if isinstance(event, Progress):
            with (folder / "working").open("a") as file:
                file.write(f"{event.value}\\n")
        print(event, flush=True)
"""


@pytest.fixture
def program(tmp_path):
    """Start the program with a verb for its two slots, in a process group of its own."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root, "TMPDIR": str(tmp_path)}
    started = []

    def start(verb, worker="Toy", ranks=1):
        started.append(
            subprocess.Popen(
                [
                    *(sys.executable, str(path), str(tmp_path)),
                    *(f"tests.dist.workers:{worker}", str(ranks), verb),
                ],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                process_group=0,
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def test_ranks_do_not_run_the_program_again(program, tmp_path):
    """Field case F5: child ranks re-run the whole multirun."""
    process = program("environment")
    output, _ = process.communicate()
    assert process.returncode == 0, output
    assert output.count("Finished") == 2
    assert "CANARY" not in output
    assert (tmp_path / "starts").read_text() == "started\n"


@pytest.mark.parametrize(
    "kill",
    [
        lambda pid: os.kill(pid, signal.SIGKILL),
        lambda pid: os.kill(pid, signal.SIGTERM),
        lambda pid: os.killpg(pid, signal.SIGINT),
        lambda pid: os.killpg(pid, signal.SIGKILL),
    ],
    ids=["kill -9", "SIGTERM", "Ctrl-C", "kill -9 of the group"],
)
def test_no_process_and_no_file_is_left(program, tmp_path, kill):
    process = program("grandchild")
    working = tmp_path / "working"
    assert until(lambda: working.exists() and working.read_text().count("\n") == 2)
    below = descendants(process.pid)
    assert len(below) == 5  # the nursery, two ranks, and what each of them started
    kill(process.pid)
    process.wait(30)
    assert until(lambda: not any(alive(pid) for pid in below))
    assert until(lambda: not list(tmp_path.glob("gymspace-*")))


@pytest.mark.parametrize(
    ("verb", "worker", "ranks"), [("asks_once", "Toy", 1), ("first_asks", "Group", 2)]
)
def test_a_rank_that_waits_for_an_answer_ends_with_its_parent(
    program, tmp_path, verb, worker, ranks
):
    """Also the one that waits for that rank."""
    process = program(verb, worker, ranks)
    working = tmp_path / "working"
    assert until(lambda: working.exists() and working.read_text().count("\n") == 2)
    below = descendants(process.pid)
    assert len(below) == 1 + 2 * ranks
    process.kill()
    process.wait(30)
    assert until(lambda: not any(alive(pid) for pid in below))


def test_ctrl_c_reaches_the_parent_alone(program, tmp_path):
    process = program("grandchild")
    assert until((tmp_path / "working").exists)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in output
    assert "Finished" not in output
