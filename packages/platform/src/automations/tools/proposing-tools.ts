// The tools of a run that only proposes: reading is done, everything else is recorded with its arguments.
import type { Tool } from "@agentcli/engine";
import { z } from "zod";
import { done, outcomeOf, platformTool } from "./tool.ts";

export interface ProposedCall {
  callId: string;
  tool: string;
  arguments: Record<string, unknown>;
}

export interface ProposalOptions {
  record(call: ProposedCall): Promise<void>;
  /** Removes secrets. */
  scrub(text: string): string;
}

/** A tool that is added later writes, until it is listed here. */
const readingTools = ["read_memory", "list_subscriptions"];

export const proposingTools = (tools: Tool[], options: ProposalOptions): Tool[] =>
  tools.map((tool) => (readingTools.includes(toolName(tool)) ? tool : proposingTool(tool, options)));

/** An MCP server may write with every tool, and to list its tools means to reach it: each has one tool that stands for all. */
export const proposingServers = (servers: string[], options: ProposalOptions): Tool[] =>
  servers.map((server) =>
    proposingTool(
      platformTool({
        name: `call_${server.replace(/\W/g, "_")}`,
        description: `Propose a call of a tool of the MCP server ${server}, which is not connected in this run.`,
        arguments: z.strictObject({ tool: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) }),
        onResume: "rerun",
        run: async () => done(""),
      }),
      options,
    ),
  );

function proposingTool(tool: Tool, { record, scrub }: ProposalOptions): Tool {
  const name = toolName(tool);
  return {
    ...tool,
    onResume: "rerun",
    async run(args, { callId, state }) {
      const given = withoutSecrets(args, scrub) as Record<string, unknown>;
      // Calls are numbered per thread, and a sub-agent has one of its own.
      await record({ callId: `${state.threadId} ${callId}`, tool: name, arguments: given });
      return outcomeOf({ tool: name, args: given, durationMs: 0 }, done(recorded));
    },
  };
}

const recorded =
  "Recorded as a proposal. In this run nothing is changed outside the workspace; go on as if it had been done.";

const toolName = ({ name, mcp }: Tool): string => mcp?.tool ?? name;

function withoutSecrets(value: unknown, scrub: (text: string) => string): unknown {
  if (typeof value === "string") return scrub(value);
  if (Array.isArray(value)) return value.map((part) => withoutSecrets(part, scrub));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [scrub(name), withoutSecrets(part, scrub)]));
}
