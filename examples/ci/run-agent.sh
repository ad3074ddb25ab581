#!/usr/bin/env bash
# Runs one prompt in any CI system or from cron. The API key stays in a proxy, out of reach of the agent's commands.
#
#   run-agent.sh PROMPT_FILE [flags of agentcli exec…]
#
# The key is in the file "key" of the agent home (~/.agentcli), which the sandbox hides from commands. The final message
# goes to standard output, the exit code is that of agentcli. UPSTREAM_URL is the address of the Responses API, if it is
# not the default.
set -euo pipefail

prompt_file=${1:?the file with the prompt is missing}
shift
key_file="${AGENT_HOME:-$HOME/.agentcli}/key"
[ -r "$key_file" ] || { echo "run-agent.sh: put the API key into $key_file" >&2 && exit 3; }
state=$(mktemp -d)
proxy=
trap 'if [ -n "$proxy" ]; then kill "$proxy" || true; wait "$proxy" || true; fi 2>/dev/null; rm -rf "$state"' EXIT

agentcli responses-proxy --token-file "$state/token" --server-info "$state/server.json" --end-with $$ \
  ${UPSTREAM_URL:+--upstream-url "$UPSTREAM_URL"} <"$key_file" >/dev/null &
proxy=$!
while [ ! -s "$state/server.json" ]; do
  kill -0 "$proxy" 2>/dev/null || { wait "$proxy" || exit $?; }
  sleep 0.1
done
url=$(sed 's/.*"url":"\([^"]*\)".*/\1/' "$state/server.json")

PROXY_TOKEN=$(cat "$state/token") agentcli exec --sanitize \
  -c "model_providers.proxy={ base_url = \"$url\", env_key = \"PROXY_TOKEN\" }" -c model_provider=proxy \
  "$@" - <"$prompt_file"
