# Sourced by the steps of action.yml before they start node: PATH without relative directories and without those of the
# repository, where an agent or a pull request may have left a program of that name. Only with what bash has built in.
agentcli_workspace=$(cd -P -- "${GITHUB_WORKSPACE:-$PWD}" && pwd -P)
agentcli_path=
IFS=: read -r -a agentcli_folders <<< "$PATH"
for agentcli_folder in "${agentcli_folders[@]}"; do
  case $agentcli_folder in /*) ;; *) continue ;; esac
  agentcli_folder=$(cd -P -- "$agentcli_folder" 2> /dev/null && pwd -P) || continue
  case $agentcli_folder/ in "$agentcli_workspace"/*) continue ;; esac
  agentcli_path=$agentcli_path${agentcli_path:+:}$agentcli_folder
done
PATH=$agentcli_path
