from __future__ import annotations

import sys
from pathlib import Path

# The tests of this folder share builds.py.
sys.path.insert(0, str(Path(__file__).parent))
