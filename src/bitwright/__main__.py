"""`bitwright` and `python -m bitwright`."""

import sys


def start() -> int:
    """Runs the command line; Ctrl-C while its modules load stops it without a traceback, too."""
    try:
        from bitwright.cli.main import main

        return main()
    except KeyboardInterrupt:
        print("bitwright: stopped", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(start())
