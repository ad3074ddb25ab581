// Sub-agents in a request.
import { z } from "zod";
import { ModelSelection } from "./common.ts";

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
