// The completion script for bash.
import type { Command } from "../commands.ts";
import { flags } from "../flags.ts";
import { edges, type Place, places, spellings, valueFlags, valueKind } from "./grammar.ts";

export const bashScript = (
  commands: Command[],
): string => `# bash completion for agentcli: source <(agentcli completion bash)
_agentcli() {
  local IFS=$' \\t\\n'
  local current="\${COMP_WORDS[COMP_CWORD]}" command="" words="" index
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
${valueCases().join("\n")}
  esac
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${COMP_WORDS[index]}" in
      ${valueFlags().flatMap(spellings).join("|")}) ((index++)); continue ;;
    esac
    case "$command|\${COMP_WORDS[index]}" in
${edges(commands)
  .map(({ from, word, to }) => `      "${from}|${word}") command="${to}" ;;`)
  .join("\n")}
    esac
  done
  case "$command" in
${places(commands)
  .map((place) => `    "${place.at}") words="${wordsOf(place)}" ;;`)
  .join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _agentcli agentcli
`;

function valueCases(): string[] {
  return valueFlags().map((name) => `    ${spellings(name).join("|")}) ${valueAction(name)} return ;;`);
}

function valueAction(name: keyof typeof flags): string {
  const actions = {
    choice: `COMPREPLY=($(compgen -W "${flags[name].choices?.join(" ")}" -- "$current"));`,
    directory: 'COMPREPLY=($(compgen -d -- "$current"));',
    file: 'COMPREPLY=($(compgen -f -- "$current"));',
    other: "COMPREPLY=();",
  };
  return actions[valueKind(flags[name]) ?? "other"];
}

const wordsOf = ({ next, flags: names }: Place): string =>
  [...next.map(({ word }) => word), ...names.map((name) => `--${name}`)].join(" ");
