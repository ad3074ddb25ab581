// Built-in tools as the model is offered them. What reads their arguments and what they do is loaded with the first call.
import type { ToolName, ToolSpec } from "@agentcli/protocol";
import { toolSchemas } from "@agentcli/protocol/tool-schemas";
import type { BuiltInName } from "./actions.ts";
import type { Parsed, Tool } from "./tool.ts";

interface BuiltIn extends Pick<Tool, "onResume" | "parallel" | "createsWithId"> {
  name: BuiltInName;
  description: string;
}

export function builtIn({ description, ...tool }: BuiltIn): Tool {
  return {
    ...tool,
    spec: () => functionSpec(tool.name, description),
    parse: (input) => parseArguments(tool.name, input),
    run: async (args, context) => (await import("./actions.ts")).act(tool.name, args, context),
  };
}

export const functionSpec = (name: ToolName, description: string): ToolSpec => ({
  form: "function",
  name,
  description,
  parameters: toolSchemas[name] as unknown as Extract<ToolSpec, { form: "function" }>["parameters"],
});

export const parseArguments = async (name: ToolName, input: string): Promise<Parsed> =>
  (await import("./arguments.ts")).parseArguments(name, input);
