// The completion script for zsh, to be sourced or put on the function path.
import type { Flag, Syntax } from "../command.ts";
import { edges, helpOf, type Position, positions, spellings, valueFlags, valueKind } from "./grammar.ts";

export const zshScript = (syntax: Syntax): string => `#compdef ${syntax.program}
_${syntax.program}() {
  local command="" index
  case "\${words[CURRENT - 1]}" in
${valueFlags(syntax)
  .map((entry) => `    ${spellings(entry).join("|")}) ${valueAction(entry[1])}; return ;;`)
  .join("\n")}
  esac
  for ((index = 2; index < CURRENT; index++)); do
    case "\${words[index]}" in
      ${valueFlags(syntax).flatMap(spellings).join("|")}) ((index++)); continue ;;
    esac
    case "$command|\${words[index]}" in
${edges(syntax.commands)
  .map(({ from, word, to }) => `      ${quote(`${from}|${word}`)}) command=${quote(to)} ;;`)
  .join("\n")}
    esac
  done
  local -a entries
  case "$command" in
${positions(syntax.commands)
  .map((position) => `    ${quote(position.at)}) entries=(${entriesOf(position, syntax)}) ;;`)
  .join("\n")}
  esac
  _describe ${syntax.program} entries || _files
}
if [ "$funcstack[1]" = "_${syntax.program}" ]; then _${syntax.program} "$@"; else compdef _${syntax.program} ${syntax.program}; fi
`;

function valueAction(flag: Flag): string {
  const actions = {
    choice: `compadd -- ${flag.choices?.join(" ")}`,
    directory: "_files -/",
    file: "_files",
    other: "_message value",
  };
  return actions[valueKind(flag) ?? "other"];
}

const entriesOf = ({ next, flags }: Position, syntax: Syntax): string =>
  [
    ...next.map(({ word, summary }) => quote(`${word}:${summary}`)),
    ...flags.map((name) => quote(`--${name}:${helpOf(name, syntax).replaceAll(":", "\\:")}`)),
  ].join(" ");

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
