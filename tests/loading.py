"""What a program loads."""

import subprocess
import sys


def modules_after(program: str) -> set[str]:
    """What a process of its own has loaded when it has run a program."""
    program = f"{program}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())
