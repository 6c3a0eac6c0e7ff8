#!python
"""The `bitwright` command as it is installed: Ctrl-C prints one line from here on, even while bitwright is loaded."""

import sys

try:
    from bitwright.cli.start import start
except KeyboardInterrupt:
    print("bitwright: stopped", file=sys.stderr)
    sys.exit(130)

sys.exit(start())
