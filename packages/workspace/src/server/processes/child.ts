// One operating-system process, on pipes or on a terminal, as the rest of the server sees it.

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import type { Chunk, Terminal } from "@agentcli/protocol";
import type { Environment } from "../../environment/index.ts";

export interface ChildSpec {
  argv: string[];
  cwd: string;
  env: Environment;
  /** All of its input, when that is known at the start; else it can be written later. */
  input: string | undefined;
}

export interface ChildEvents {
  output(stream: Chunk["stream"], text: string): void;
  /** The process itself is gone; others may still hold its output open. */
  exited(exitCode: number): void;
  /** No more output can come. */
  closed(): void;
}

export interface Child {
  /** Leader of its own session and group. */
  pid: number;
  write(text: string): void;
  endInput(): void;
  resize(size: Terminal): void;
  /** Stops reading, so that the process blocks instead of filling our memory. */
  holdOutput(): void;
  resumeOutput(): void;
}

export type Launch = { kind: "started"; child: Child } | { kind: "not-started"; message: string };

/** What stands in the way of starting this, in a sentence; undefined when nothing seems to. */
export function explainStartFailure({ argv, cwd, env }: ChildSpec): string | undefined {
  const directory = findKind(cwd);
  if (directory === "missing") return `The working directory ${cwd} does not exist. Create it or choose another.`;
  if (directory === "other") return `The working directory ${cwd} is not a directory. Choose another.`;
  const program = argv[0] ?? "";
  const candidates = program.includes("/")
    ? [resolve(cwd, program)]
    : (env.PATH ?? "").split(delimiter).map((entry) => join(resolve(cwd, entry), program));
  if (candidates.some(isExecutable)) return undefined;
  if (program.includes("/")) return `The program ${program} does not exist or may not be executed.`;
  return `The program ${program} was not found on PATH. Install it or name it by its path.`;
}

function findKind(path: string): "directory" | "other" | "missing" {
  try {
    return statSync(path).isDirectory() ? "directory" : "other";
  } catch {
    return "missing";
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
