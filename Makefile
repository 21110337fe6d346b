# SPDX-License-Identifier: Apache-2.0
# Thin doors: everything lives in `dev` (see `./dev help`).
.PHONY: run test bench
run: ; ./dev run
test: ; ./dev test
bench: ; ./dev bench
