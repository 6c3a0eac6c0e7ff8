"""`python -m bitwright`."""

import sys

from bitwright.cli.start import start

sys.exit(start())
