// The completion script for bash.
import type { Flag, Syntax } from "../command.ts";
import { edges, type Position, positions, spellings, valueFlags, valueKind } from "./grammar.ts";

export const bashScript = (
  syntax: Syntax,
): string => `# bash completion for ${syntax.program}: source <(${syntax.program} completion bash)
_${syntax.program}() {
  local IFS=$' \\t\\n'
  local current="\${COMP_WORDS[COMP_CWORD]}" command="" words="" index
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
${valueFlags(syntax)
  .map((entry) => `    ${spellings(entry).join("|")}) ${valueAction(entry[1])} return ;;`)
  .join("\n")}
  esac
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${COMP_WORDS[index]}" in
      ${valueFlags(syntax).flatMap(spellings).join("|")}) ((index++)); continue ;;
    esac
    case "$command|\${COMP_WORDS[index]}" in
${edges(syntax.commands)
  .map(({ from, word, to }) => `      "${from}|${word}") command="${to}" ;;`)
  .join("\n")}
    esac
  done
  case "$command" in
${positions(syntax.commands)
  .map((position) => `    "${position.at}") words="${wordsOf(position)}" ;;`)
  .join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${syntax.program} ${syntax.program}
`;

function valueAction(flag: Flag): string {
  const actions = {
    choice: `COMPREPLY=($(compgen -W "${flag.choices?.join(" ")}" -- "$current"));`,
    directory: 'COMPREPLY=($(compgen -d -- "$current"));',
    file: 'COMPREPLY=($(compgen -f -- "$current"));',
    other: "COMPREPLY=();",
  };
  return actions[valueKind(flag) ?? "other"];
}

const wordsOf = ({ next, flags }: Position): string =>
  [...next.map(({ word }) => word), ...flags.map((name) => `--${name}`)].join(" ");
