# SPDX-License-Identifier: Apache-2.0
# Completion of opscv in bash: the command itself knows what can stand next.
_opscv() {
  local words=("${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null)
}
complete -o default -F _opscv opscv
