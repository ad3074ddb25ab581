// Adds hooks to the hooks file of a repository and keeps those that it has.
import { isDeepStrictEqual } from "node:util";
import { CommandError } from "@agentcli/command-line";

/** The existing text itself if it has all of them already. */
export function addHooks(existing: string, added: string, path: string): string {
  const file = parseHooks(existing, path);
  const events = Object.entries(parseHooks(added, path).hooks);
  const missing = events.flatMap(([event, entries]) =>
    entries
      .filter((entry) => !(file.hooks[event] ?? []).some((known) => isDeepStrictEqual(known, entry)))
      .map((entry) => ({ event, entry })),
  );
  if (missing.length === 0) return existing;
  for (const { event, entry } of missing) file.hooks[event] = [...(file.hooks[event] ?? []), entry];
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** The commands in a hooks file of either dialect. */
export function commandsOf(text: string): string[] {
  const commands: string[] = [];
  JSON.parse(text, (key, value: unknown) => {
    if (key === "command" && typeof value === "string") commands.push(value);
    return value;
  });
  return commands;
}

interface HooksFile {
  hooks: Record<string, unknown[]>;
}

function parseHooks(text: string, path: string): HooksFile {
  const file = parse(text, path);
  if (isTable(file) && isTable(file.hooks) && Object.values(file.hooks).every(Array.isArray))
    return file as unknown as HooksFile;
  throw new CommandError("usage", `${path} is not a hooks file: expected {"hooks": {"EVENT": […]}}. Fix it first.`);
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError("usage", `${path} is not valid JSON (${(error as Error).message}). Fix it first.`);
  }
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
