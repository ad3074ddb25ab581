// What a script of a hook runs and loads. One in which that cannot be determined is refused, with the line.
import { readCommandFiles } from "./command.ts";
import type { Workspace } from "./files.ts";
import { type LoadedFiles, readOtherScript, type ScriptText } from "./other-scripts.ts";
import { type CommandFiles, noFiles, unknownProgram } from "./reading.ts";
import { Unpinnable } from "./shell-reader.ts";

/** A shell script is read like a command. It finds itself by `$0`, unless another one reads it. */
export function readShellScript(script: ScriptText, workspace: Workspace): CommandFiles {
  const { path, text, directories, isSourced } = script;
  const found = noFiles();
  const own: [string, string][] = isSourced ? [] : [["0", path]];
  const variables = new Map([...workspace.variables, ["BASH_SOURCE", path], ...own]);
  try {
    refuseSize(text);
    refuseControlCharacters(text);
    readCommandFiles(text, { ...workspace, directories, variables }, found);
  } catch (error) {
    throw error instanceof Unpinnable ? inScript(error, script) : error;
  }
  return found;
}

/** Scripts in other languages: one in which that cannot be followed is refused too. */
export function readCodeScript(script: ScriptText, workspace: Workspace): LoadedFiles {
  try {
    if (script.language !== "data") refuseSize(script.text);
    return readOtherScript(script, workspace);
  } catch (error) {
    throw error instanceof Unpinnable ? inScript(error, script) : error;
  }
}

/** The reason, with the file and the line. */
function inScript({ message, at = 0 }: Unpinnable, { path, text }: ScriptText): Unpinnable {
  return new Unpinnable(`in line ${text.slice(0, at).split("\n").length} of ${path}, ${message}`);
}

const maxKibibytes = 256;

/** Code is read while others wait for it. */
export function refuseSize(text: string): void {
  const size = Math.ceil(Buffer.byteLength(text) / 1024);
  if (size > maxKibibytes)
    throw new Unpinnable(`it has ${size} KiB, and at most ${maxKibibytes} KiB are read; make it shorter`);
}

/** To a shell they are characters of a name; to the reader of a listing they are nothing. */
export function refuseControlCharacters(text: string): void {
  const at = text.search(/[\0-\x08\x0b-\x1f\x7f]/);
  if (at === -1) return;
  const error = new Unpinnable("there is a control character");
  error.at = at;
  throw error;
}

export interface ReadScript {
  script: ScriptText;
  found: Pick<CommandFiles, "functions" | "calls">;
}

/** Every name of an unknown program has to be a function of the script itself, or of one that is read with it. */
export function checkCalls({ functions, calls }: CommandFiles, scripts: ReadScript[]): void {
  const sourced = new Set(
    scripts.filter(({ script }) => script.isSourced).flatMap(({ found }) => [...found.functions]),
  );
  const all = new Set([...functions, ...scripts.flatMap(({ found }) => [...found.functions])]);
  for (const { name } of calls) if (!sourced.has(name)) throw unknownProgram(name);
  for (const { script, found } of scripts) {
    const usable = script.isSourced ? all : sourced;
    for (const { name, at } of found.calls)
      if (!usable.has(name)) throw inScript(Object.assign(unknownProgram(name), { at }), script);
  }
}
