// Sub-agents: those that a request brings, and those that a run began.
import { z } from "zod";
import { ModelSelection, Timestamp } from "./common.ts";
import { ToolCallFrame } from "./stream.ts";
import { Cost } from "./usage.ts";

/** Names that agents have from the start. */
export const builtInSubagents = ["explore", "explorer", "worker", "debug", "shell", "computerUse"];

export const CustomSubagent = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, "letters, digits, dash and underscore, at most 64"),
  description: z.string().min(1).max(2000),
  prompt: z.string().min(1).max(100_000),
  model: z
    .union([z.string().min(1).max(200), ModelSelection])
    .optional()
    .describe("A model id, a selection, or inherit"),
});
export type CustomSubagent = z.infer<typeof CustomSubagent>;

export const CustomSubagents = z
  .array(CustomSubagent)
  .max(20)
  .superRefine((agents, context) => {
    const names = new Set(builtInSubagents);
    agents.forEach(({ name }, index) => {
      const message = builtInSubagents.includes(name) ? `${name} is built in` : `duplicate name "${name}"`;
      if (names.has(name)) context.addIssue({ code: "custom", path: [index, "name"], message });
      names.add(name);
    });
  });

const runSubagent = {
  id: z.string(),
  parentId: z.string().optional().describe("The sub-agent that began it; absent: the agent itself"),
  name: z.string(),
  role: z.string(),
  task: z.string().describe("What it was asked first"),
  status: z.enum(["running", "completed", "failed", "cancelled"]),
  startedAt: Timestamp,
  durationMs: z.int().nonnegative().optional().describe("Until its last turn ended; absent while it runs"),
  model: z.object({ id: z.string() }).optional(),
  cost: Cost.optional().describe("Part of the cost of the run; absent where a price is not known"),
};

export const RunSubagent = z.object(runSubagent).meta({ id: "RunSubagent" });
export type RunSubagent = z.infer<typeof RunSubagent>;

export const RunSubagentList = z.object({ items: z.array(RunSubagent) }).meta({ id: "RunSubagentList" });
export type RunSubagentList = z.infer<typeof RunSubagentList>;

export const SubagentEvent = z.discriminatedUnion("event", [
  z.object({ event: z.literal("assistant"), data: z.object({ text: z.string() }) }),
  z.object({ event: z.literal("thinking"), data: z.object({ text: z.string() }) }),
  z.object({ event: z.literal("tool_call"), data: ToolCallFrame }),
]);
export type SubagentEvent = z.infer<typeof SubagentEvent>;

export const RunSubagentDetails = z
  .object({ ...runSubagent, events: z.array(SubagentEvent).describe("As those of a run's stream") })
  .meta({ id: "RunSubagentDetails" });
export type RunSubagentDetails = z.infer<typeof RunSubagentDetails>;
