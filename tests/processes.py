"""What other processes that a test starts need to find what the test finds."""

import os
from pathlib import Path


def environment(**more: str) -> dict[str, str]:
    """This process's, with the folder of the tests before all else that Python looks through."""
    folders = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders)), **more}
