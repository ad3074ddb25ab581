// The completion script for fish.
import type { Command } from "../commands.ts";
import { type FlagName, flags } from "../flags.ts";
import { edges, type Place, places, spellings, valueFlags, valueKind } from "./grammar.ts";

export const fishScript = (commands: Command[]): string => `# fish completion for agentcli
function __agentcli_at
    set -l command ''
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        if contains -- $word ${valueFlags().flatMap(spellings).join(" ")}
            set skip 1
            continue
        end
        switch "$command|$word"
${edges(commands)
  .map(({ from, word, to }) => `            case ${quote(`${from}|${word}`)}\n                set command ${quote(to)}`)
  .join("\n")}
        end
    end
    test "$command" = "$argv[1]"
end
complete -c agentcli -f
${places(commands).flatMap(linesOf).join("\n")}
`;

function linesOf({ at, next, flags: names }: Place): string[] {
  const condition = `complete -c agentcli -n ${quote(`__agentcli_at ${quote(at)}`)}`;
  return [
    ...next.map(({ word, summary }) => `${condition} -a ${word} -d ${quote(summary)}`),
    ...names.map((name) => `${condition} ${flagOptions(name)} -d ${quote(flags[name].help)}`),
  ];
}

function flagOptions(name: FlagName): string {
  const { short, choices } = flags[name];
  const names = `-l ${name}${short ? ` -s ${short}` : ""}`;
  const values = {
    choice: ` -x -a ${quote(choices?.join(" ") ?? "")}`,
    directory: " -x -a '(__fish_complete_directories)'",
    file: " -r -F",
    other: " -x",
  };
  const kind = valueKind(flags[name]);
  return kind ? `${names}${values[kind]}` : names;
}

const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
