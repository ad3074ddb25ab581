// A command: a Markdown file that a prompt calls with `/name arguments`, as other tools define it.
import { readFrontMatter } from "../front-matter/front-matter.ts";

export interface Command {
  /** Without the slash. */
  name: string;
  path: string;
  description: string;
  body: string;
  /** What the file asks for and does not get. */
  notes: string[];
}

export type ParsedCommand = Pick<Command, "description" | "body" | "notes"> | { problem: string };

export function parseCommand(text: string): ParsedCommand {
  const matter = readFrontMatter(text);
  if (matter.kind === "problem") return { problem: `line ${matter.line}: ${matter.message}` };
  if (matter.kind === "unclosed") return { problem: "its front matter does not end; close it with a line ---" };
  const body = (matter.kind === "matter" ? matter.body : text).trim();
  if (body === "") return { problem: "it has no text" };
  const values = matter.kind === "matter" ? matter.values : {};
  const description = typeof values.description === "string" ? values.description : "";
  const asked = Object.keys(values).filter((key) => !knownKeys.has(key));
  const runsCommands = /(^|\s)!`[^`]+`/m.test(body);
  return {
    description,
    body,
    notes: [
      ...asked.map(withoutEffect),
      ...(runsCommands ? ["commands in !`…` are not run; the model sees them as text"] : []),
    ],
  };
}

const knownKeys = new Set(["name", "description", "argument-hint", "argument_hint", "disable-model-invocation"]);

/** A key of another tool that nothing here corresponds to. */
export function withoutEffect(key: string): string {
  const instead: Record<string, string> = {
    "allowed-tools": "sandbox and rules decide what may run",
    model: "the model of the run is used",
  };
  return `${key} has no effect${instead[key] ? `; ${instead[key]}` : ""}`;
}

/** `$ARGUMENTS`, `$1` to `$9`, `$NAME` for `NAME=value`, `$$` for a dollar sign. Arguments are not expanded again. */
export function expandCommand(body: string, given: string): string {
  const words = [...given.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, one, other, plain]) => one ?? other ?? plain ?? "",
  );
  const named = new Map(
    [...given.matchAll(namedArgument)].map(([, name = "", one, plain]) => [name, one ?? plain ?? ""]),
  );
  return body.replace(/\$(\$|[1-9](?!\d)|[A-Z][A-Z0-9_]*)/g, (mark, name: string) => {
    if (name === "$") return "$";
    if (name === "ARGUMENTS") return given;
    return /^[1-9]$/.test(name) ? (words[Number(name) - 1] ?? "") : (named.get(name) ?? mark);
  });
}

const namedArgument = /(?:^|\s)([A-Z][A-Z0-9_]*)=(?:"([^"]*)"|(\S+))/g;
