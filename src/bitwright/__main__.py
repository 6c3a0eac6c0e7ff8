"""`python -m bitwright`."""

import sys

from bitwright.cli.main import main

sys.exit(main())
