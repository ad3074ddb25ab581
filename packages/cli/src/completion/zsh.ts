// The completion script for zsh, to be sourced or put on the function path.
import type { Command } from "../commands.ts";
import { flags } from "../flags.ts";
import { edges, type Place, places, spellings, valueFlags, valueKind } from "./grammar.ts";

export const zshScript = (commands: Command[]): string => `#compdef agentcli
_agentcli() {
  local command="" index
  case "\${words[CURRENT - 1]}" in
${valueFlags()
  .map((name) => `    ${spellings(name).join("|")}) ${valueAction(name)}; return ;;`)
  .join("\n")}
  esac
  for ((index = 2; index < CURRENT; index++)); do
    case "\${words[index]}" in
      ${valueFlags().flatMap(spellings).join("|")}) ((index++)); continue ;;
    esac
    case "$command|\${words[index]}" in
${edges(commands)
  .map(({ from, word, to }) => `      ${quote(`${from}|${word}`)}) command=${quote(to)} ;;`)
  .join("\n")}
    esac
  done
  local -a entries
  case "$command" in
${places(commands)
  .map((place) => `    ${quote(place.at)}) entries=(${entriesOf(place)}) ;;`)
  .join("\n")}
  esac
  _describe agentcli entries || _files
}
if [ "$funcstack[1]" = "_agentcli" ]; then _agentcli "$@"; else compdef _agentcli agentcli; fi
`;

function valueAction(name: keyof typeof flags): string {
  const actions = {
    choice: `compadd -- ${flags[name].choices?.join(" ")}`,
    directory: "_files -/",
    file: "_files",
    other: "_message value",
  };
  return actions[valueKind(flags[name]) ?? "other"];
}

const entriesOf = ({ next, flags: names }: Place): string =>
  [
    ...next.map(({ word, summary }) => quote(`${word}:${summary}`)),
    ...names.map((name) => quote(`--${name}:${flags[name].help.replaceAll(":", "\\:")}`)),
  ].join(" ");

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
