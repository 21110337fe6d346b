# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC3028,SC3054
# Read by `. set_env.sh` (bash, zsh, or a POSIX shell in this folder): says where this tree lies.
if [ -n "${BASH_VERSION:-}" ]; then
  opscv_script=${BASH_SOURCE[0]}
elif [ -n "${ZSH_VERSION:-}" ]; then
  eval 'opscv_script=${(%):-%x}'
else
  opscv_script=./set_env.sh
fi
ASCEND_HOME_PATH=$(cd "$(dirname "$opscv_script")" && pwd)
ASCEND_CUSTOM_PATH=$ASCEND_HOME_PATH
LD_LIBRARY_PATH=$ASCEND_HOME_PATH/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export ASCEND_HOME_PATH ASCEND_CUSTOM_PATH LD_LIBRARY_PATH
unset opscv_script
