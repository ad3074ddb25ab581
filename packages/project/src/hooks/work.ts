// What a hook does when it is asked, by its type.
import type { HookDefinition, HookOf } from "@agentcli/protocol";
import { isTable, type Table } from "../config/table.ts";
import { isCommand, isText } from "./definition.ts";

type Type = NonNullable<HookDefinition["type"]>;

/** The part of a definition that differs from type to type. */
export type Work =
  | Pick<HookOf<"command">, "type" | "command">
  | Pick<HookOf<"prompt">, "type" | "prompt" | "model">
  | Pick<HookOf<"mcp_tool">, "type" | "server" | "tool" | "input">
  | Pick<HookOf<"agent">, "type" | "prompt">;

export type ReadWork = { kind: "work"; work: Work } | { kind: "problem"; problem: string };

export function readWork(entry: Table, type: unknown, known: readonly Type[]): ReadWork {
  const found = known.find((name) => name === type);
  return found === undefined ? problem(`type must be one of ${known.join(", ")}`) : readers[found](entry);
}

const readers: Record<Type, (entry: Table) => ReadWork> = {
  command({ command }) {
    return isCommand(command) ? work({ command }) : problem(wordFor("command", command));
  },
  prompt({ prompt, model }) {
    if (!isCommand(prompt)) return problem(wordFor("prompt", prompt));
    if (model !== undefined && !isCommand(model)) return problem(wordFor("model", model));
    return work({ type: "prompt", prompt, ...(model === undefined ? {} : { model }) });
  },
  mcp_tool({ server, tool, input = {} }) {
    if (!isCommand(server)) return problem(wordFor("server", server));
    if (!isCommand(tool)) return problem(wordFor("tool", tool));
    if (!isTable(input)) return problem("input must be an object");
    return work({ type: "mcp_tool", server, tool, input: input as HookOf<"mcp_tool">["input"] });
  },
  agent: ({ prompt = "" }) => (isText(prompt) ? work({ type: "agent", prompt }) : problem(wordFor("prompt", prompt))),
};

const work = (read: Work): ReadWork => ({ kind: "work", work: read });
const problem = (sentence: string): ReadWork => ({ kind: "problem", problem: sentence });
const wordFor = (name: string, value: unknown): string =>
  value === undefined || value === "" ? `${name} is missing` : `${name} is not what it must be`;
