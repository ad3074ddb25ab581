// Variables that shell code sets to one known value, such as `DIR="$(dirname "$0")"`.
import { readCommands } from "./shell-commands.ts";
import type { ShellCode, ShellWord, Variables } from "./shell-reader.ts";

const maxPasses = 4;

/** The commands, with the values of such variables. A variable that is set in any other way is not known. */
export function readWithConstants(source: string, variables: Variables): ShellCode {
  let code = readCommands(source, { variables, constants: new Map() });
  let known = "";
  for (let pass = 0; pass < maxPasses; pass++) {
    const values = valuesIn(code, source);
    const constants = new Map([...values].flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])));
    const found = JSON.stringify([...constants]);
    if (found === known) return code;
    known = found;
    const others = new Map([...variables].filter(([name]) => !values.has(name)));
    code = readCommands(source, { variables: others, constants });
  }
  return code;
}

const setters = new Set(["export", "local", "readonly", "read", "unset", "env"]);

/** Null for a variable that has several values, or one that only the run shows. */
function valuesIn({ commands }: ShellCode, source: string): Map<string, string | null> {
  const values = new Map<string, string | null>();
  for (const { assignments, words } of commands) {
    const isSetting = setters.has(words[0]?.value ?? "");
    for (const word of isSetting ? [...assignments, ...words.slice(1)] : assignments) {
      const [name = ""] = source.slice(word.start, word.end).split(/\+?=/);
      const value = valueAssigned(word, name);
      values.set(name, !values.has(name) || values.get(name) === value ? value : null);
    }
  }
  return values;
}

const valueAssigned = ({ value }: ShellWord, name: string): string | null =>
  value?.startsWith(`${name}=`) ? value.slice(name.length + 1) : null;
