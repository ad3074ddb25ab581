// The completion script for fish.
import type { Syntax } from "../command.ts";
import { edges, helpOf, type Position, positions, spellings, valueFlags, valueKind } from "./grammar.ts";

export const fishScript = (syntax: Syntax): string => `# fish completion for ${syntax.program}
function __${syntax.program}_at
    set -l command ''
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        if contains -- $word ${valueFlags(syntax).flatMap(spellings).join(" ")}
            set skip 1
            continue
        end
        switch "$command|$word"
${edges(syntax.commands)
  .map(({ from, word, to }) => `            case ${quote(`${from}|${word}`)}\n                set command ${quote(to)}`)
  .join("\n")}
        end
    end
    test "$command" = "$argv[1]"
end
complete -c ${syntax.program} -f
${positions(syntax.commands)
  .flatMap((position) => linesOf(position, syntax))
  .join("\n")}
`;

function linesOf({ at, next, flags }: Position, syntax: Syntax): string[] {
  const { program } = syntax;
  const condition = `complete -c ${program} -n ${quote(`__${program}_at ${quote(at)}`)}`;
  return [
    ...next.map(({ word, summary }) => `${condition} -a ${word} -d ${quote(summary)}`),
    ...flags.map((name) => `${condition} ${flagOptions(name, syntax)} -d ${quote(helpOf(name, syntax))}`),
  ];
}

function flagOptions(name: string, { flags }: Syntax): string {
  const flag = flags[name] ?? { help: "" };
  const names = `-l ${name}${flag.short ? ` -s ${flag.short}` : ""}`;
  const values = {
    choice: ` -x -a ${quote(flag.choices?.join(" ") ?? "")}`,
    directory: " -x -a '(__fish_complete_directories)'",
    file: " -r -F",
    other: " -x",
  };
  const kind = valueKind(flag);
  return kind ? `${names}${values[kind]}` : names;
}

const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
