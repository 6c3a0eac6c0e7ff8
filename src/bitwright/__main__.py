"""`python -m bitwright`."""

import sys

from bitwright.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
