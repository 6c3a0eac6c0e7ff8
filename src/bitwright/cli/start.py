"""The entry point of the `bitwright` command: Ctrl-C prints one line even while modules are loading."""

import sys
from contextlib import suppress
from signal import SIG_IGN, SIGINT, signal


def start() -> int:
    """Runs the command line and returns its exit code."""
    try:
        from bitwright.cli.main import main  # imported here because it takes time

        code = main()
        signal(SIGINT, SIG_IGN)  # the result is printed, but Python takes a moment to exit
        return code
    except KeyboardInterrupt:
        return _stopped()
    except ImportError as error:  # some modules turn Ctrl-C during import into another error
        if _caused_by_interrupt(error):
            return _stopped()
        raise


def _stopped() -> int:
    with suppress(OSError, AttributeError):  # stderr is closed
        print("bitwright: stopped", file=sys.stderr)
    return 130


def _caused_by_interrupt(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None
