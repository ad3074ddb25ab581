// What the first paint and the program have in common.
import { homedir } from "node:os";
import { type Line, type Span, span, visible, wrapLine } from "../text/index.ts";

/** Above the first message; the directory is unknown where the server is on another machine. */
export function greeting(version: string, cwd: string | null, columns: number): Line[] {
  const title = [span("agentcli", { bold: true }), span(` ${version}`, { dim: true })];
  const directory = cwd === null ? [] : [span(`  ${visible(shortPath(cwd))}`)];
  const keys = span("Enter sends, Ctrl-J begins a new line, / lists commands, Ctrl-C twice quits.", { dim: true });
  return [[...title, ...directory], [keys]].flatMap((line) => wrapLine(line, { columns: columns - 1 }));
}

export const placeholder = "Ask for a change, or / for commands";

export const promptMark: Span = span("› ", { color: "cyan", bold: true });

export function shortPath(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
