// The labels of a worker: pairs on the command line, or one file of JSON or TOML.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CommandError, type Invocation } from "@agentcli/command-line";
import type { WorkerLabels } from "@agentcli/protocol/worker-link";
import { parse as parseToml } from "smol-toml";
import type { WorkerFlag } from "./commands.ts";

interface Environment {
  variables: NodeJS.ProcessEnv;
  cwd: string;
}

/** Throws CommandError. */
export function readLabels(
  { text, list }: Pick<Invocation<WorkerFlag>, "text" | "list">,
  { variables, cwd }: Environment,
): WorkerLabels {
  const pairs = list("label");
  const given = text("labels-file");
  if (pairs.length > 0 && given !== undefined)
    throw new CommandError("usage", "Labels come from --label or from --labels-file. Leave one of them out.");
  const file = given ?? (pairs.length === 0 ? variables.PLATFORM_WORKER_LABELS_FILE || undefined : undefined);
  return file === undefined ? fromPairs(pairs) : fromFile(resolve(cwd, file));
}

/** These are set by the worker itself. */
const reserved: Record<string, string> = { repo: "worker-dir", pool: "pool", name: "name" };

function checkKey(key: string): void {
  if (Object.hasOwn(reserved, key))
    throw new CommandError("usage", `The label ${key} is set by the worker itself; use --${reserved[key]} instead.`);
}

function fromPairs(pairs: string[]): WorkerLabels {
  const labels: Record<string, string[]> = {};
  for (const pair of pairs) {
    const [, key = "", value = ""] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (key === "") throw new CommandError("usage", `Invalid label "${pair}": expected KEY=VALUE.`);
    checkKey(key);
    labels[key] = [...(labels[key] ?? []), value];
  }
  return Object.fromEntries(
    Object.entries(labels).map(([key, values]) => [key, values.length === 1 ? (values[0] ?? "") : values]),
  );
}

function fromFile(path: string): WorkerLabels {
  const table = parseFile(path);
  for (const [key, value] of Object.entries(table)) {
    checkKey(key);
    const values = Array.isArray(value) ? value : [value];
    if (!values.every((one) => typeof one === "string"))
      throw new CommandError("usage", `The label ${key} of ${path} is not a text or a list of texts.`);
  }
  return table as WorkerLabels;
}

function parseFile(path: string): Record<string, unknown> {
  try {
    const text = readFileSync(path, "utf8");
    const table: unknown = path.endsWith(".toml") ? parseToml(text) : JSON.parse(text);
    if (typeof table === "object" && table !== null && !Array.isArray(table)) return table as Record<string, unknown>;
    throw new Error("it is not a table of labels");
  } catch (error) {
    throw new CommandError("usage", `The labels file ${path} cannot be read: ${(error as Error).message}.`);
  }
}
