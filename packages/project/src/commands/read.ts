// Finds the commands of other tools and reads them.
import { relative, sep } from "node:path";
import type { FileProblem } from "../files/problem.ts";
import { readProjectText } from "../files/project-text.ts";
import { findFiles } from "../files/walk.ts";
import { type Command, expandCommand, parseCommand } from "./command.ts";
import type { CommandRoot } from "./roots.ts";

export interface Commands {
  commands: Command[];
  /** Files that are not used, and what has no effect in the others. */
  notes: FileProblem[];
}

/** Of two with the same name the nearest is used; a skill has precedence over both. */
export function readCommands(roots: CommandRoot[], skillNames: Set<string>): Commands {
  const commands = new Map<string, Command>();
  const notes: FileProblem[] = [];
  for (const { path, name, within } of roots.flatMap(filesIn)) {
    const note = (message: string) => notes.push({ path, line: null, severity: "warning", message });
    const taken = skillNames.has(name) ? `the skill ${name}` : commands.get(name)?.path;
    if (taken) note(`not used: /${name} is ${taken}`);
    else {
      const read = readCommand({ path, name, within });
      if ("problem" in read) note(`not used: ${read.problem}`);
      else commands.set(name, read);
      for (const message of "notes" in read ? read.notes : []) note(message);
    }
  }
  return { commands: [...commands.values()], notes };
}

export interface CalledCommand {
  text: string;
  warnings: FileProblem[];
}

/** The text of the command that a prompt begins with; null if it names none. */
export function calledCommand(prompt: string, roots: CommandRoot[]): CalledCommand | null {
  const call = /^\s*\/([\w:.-]+)(?:\s+([\s\S]*))?$/.exec(prompt);
  const file = call && roots.flatMap(filesIn).find(({ name, alias }) => name === call[1] || alias === call[1]);
  if (!file) return null;
  const { path } = file;
  const warn = (message: string): FileProblem => ({ path, line: null, severity: "warning", message });
  const read = readCommand(file);
  if ("problem" in read) return { text: "", warnings: [warn(`the command is not used: ${read.problem}`)] };
  const body = expandCommand(read.body, (call[2] ?? "").trim());
  const text = `<command>\n<name>/${read.name}</name>\n<path>${path}</path>\n${body}\n</command>`;
  return { text, warnings: read.notes.map(warn) };
}

interface CommandFile {
  path: string;
  within: string | null;
  name: string;
  alias?: string;
}

/** A file in a folder can be called by its own name, or with the names of its folders before it. */
const filesIn = ({ path: root, within, prefix }: CommandRoot): CommandFile[] =>
  findFiles(root, { matchesName: (name) => name.endsWith(".md") }).files.map(({ path }) => {
    const names = relative(root, path).slice(0, -".md".length).split(sep);
    return { path, within, name: names.at(-1) ?? "", alias: prefix + names.join(":") };
  });

const maxBytes = 262_144;

function readCommand({ path, name, within }: CommandFile): Command | { problem: string } {
  const { text, isCut, problems } = readProjectText(path, { maxBytes, within });
  if (text === null) return { problem: problems[0]?.message ?? "there is no such file" };
  if (isCut) return { problem: `it has more than ${maxBytes} bytes` };
  const parsed = parseCommand(text);
  return "problem" in parsed ? parsed : { name, path, ...parsed };
}
