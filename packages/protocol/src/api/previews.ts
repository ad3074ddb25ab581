// Ports and terminals of an agent's machine.
import { z } from "zod";

export const AgentPorts = z.object({
  items: z.array(
    z.object({
      name: z.string(),
      port: z.int(),
      origin: z
        .string()
        .describe("The address of the preview; needs the key of the owner, or the cookie that url sets"),
      url: z.string().describe("Opens the preview in a browser; for one use within ten minutes"),
    }),
  ),
});

export type AgentPorts = z.infer<typeof AgentPorts>;

export const AgentTerminals = z.object({ items: z.array(z.object({ name: z.string(), isRunning: z.boolean() })) });

export type AgentTerminals = z.infer<typeof AgentTerminals>;

export const TerminalText = z.object({ text: z.string() });
export type TerminalText = z.infer<typeof TerminalText>;

export const TerminalScreenQuery = z.strictObject({
  after: z
    .string()
    .max(64)
    .optional()
    .describe("The revision that the caller has: the answer comes once there is another, or after some seconds"),
});
export type TerminalScreenQuery = z.infer<typeof TerminalScreenQuery>;

export const TerminalScreen = z.object({
  revision: z.string().describe("Another one as soon as something has changed"),
  text: z.string().describe("Lines before and the screen itself, with escape sequences for colours"),
  cursor: z.object({ line: z.int(), column: z.int() }).nullable().describe("In the text, from 0; null: it is hidden"),
  isRunning: z.boolean(),
});
export type TerminalScreen = z.infer<typeof TerminalScreen>;

export const TerminalInput = z.strictObject({
  text: z
    .string()
    .min(1)
    .max(65_536)
    .describe("A line feed is the Return key; control characters and escape sequences are those of other keys"),
});
