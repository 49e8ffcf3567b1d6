"""What all tests share."""

import os

# Tests start programs elsewhere, from where a relative place leads nowhere.
if os.environ.get("PYTHONPATH"):
    os.environ["PYTHONPATH"] = os.pathsep.join(os.path.abspath(place) for place in os.environ["PYTHONPATH"].split(os.pathsep) if place)
