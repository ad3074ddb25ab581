// The action of a hook, by its type.
import type { HookDefinition, HookOf } from "@agentcli/protocol";
import { isTable, type Table } from "../config/table.ts";
import { isCommand, isText } from "./definition.ts";

type Type = NonNullable<HookDefinition["type"]>;

/** The part of a definition that differs from type to type. */
export type HookAction =
  | Pick<HookOf<"command">, "type" | "command">
  | Pick<HookOf<"prompt">, "type" | "prompt" | "model">
  | Pick<HookOf<"mcp_tool">, "type" | "server" | "tool" | "input">
  | Pick<HookOf<"agent">, "type" | "prompt">;

export type ReadAction = { kind: "work"; work: HookAction } | { kind: "problem"; problem: string };

export function readAction(entry: Table, type: unknown, supported: readonly Type[]): ReadAction {
  const found = supported.find((name) => name === type);
  return found === undefined ? problem(`type must be one of ${supported.join(", ")}`) : readers[found](entry);
}

const readers: Record<Type, (entry: Table) => ReadAction> = {
  command({ command }) {
    return isCommand(command) ? work({ command }) : problem(problemWith("command", command));
  },
  prompt({ prompt, model }) {
    if (!isCommand(prompt)) return problem(problemWith("prompt", prompt));
    if (model !== undefined && !isCommand(model)) return problem(problemWith("model", model));
    return work({ type: "prompt", prompt, ...(model === undefined ? {} : { model }) });
  },
  mcp_tool({ server, tool, input = {} }) {
    if (!isCommand(server)) return problem(problemWith("server", server));
    if (!isCommand(tool)) return problem(problemWith("tool", tool));
    if (!isTable(input)) return problem("input must be an object");
    return work({ type: "mcp_tool", server, tool, input: input as HookOf<"mcp_tool">["input"] });
  },
  agent: ({ prompt = "" }) =>
    isText(prompt) ? work({ type: "agent", prompt }) : problem(problemWith("prompt", prompt)),
};

const work = (read: HookAction): ReadAction => ({ kind: "work", work: read });
const problem = (sentence: string): ReadAction => ({ kind: "problem", problem: sentence });
const problemWith = (name: string, value: unknown): string =>
  value === undefined || value === "" ? `${name} is missing` : `${name} is invalid`;
