#compdef opscv
# SPDX-License-Identifier: Apache-2.0
# Completion of opscv in zsh: the command itself knows what can stand next.
local -a found
found=(${(f)"$(_call_program opscv ${words[1]} complete -- ${(q)words[2,CURRENT]} 2>/dev/null)"})
if (( $#found )); then
  compadd -a found
else
  _files
fi
