# SPDX-License-Identifier: Apache-2.0
"""The acceptance runner: `python -m opscv.cases FILE.json --door c|native|python|torch`."""
