// What the first paint and the program have in common.
import { homedir } from "node:os";
import { type Line, type Span, span, visible } from "../text/index.ts";

/** Above the first message; the directory is unknown where the server is on another machine. */
export const greeting = (version: string, cwd: string | null): Line[] => [
  [
    span("agentcli", { bold: true }),
    span(` ${version}`, { dim: true }),
    ...(cwd === null ? [] : [span(`  ${visible(shortPath(cwd))}`)]),
  ],
  [span("Enter sends, Ctrl-J begins a new line, / lists commands, Ctrl-C twice quits.", { dim: true })],
];

export const placeholder = "Ask for a change, or / for commands";

export const promptMark: Span = span("› ", { color: "cyan", bold: true });

export function shortPath(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
