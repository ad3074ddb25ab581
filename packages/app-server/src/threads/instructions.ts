// Instructions from a client for the model of a new thread.
import type { ThreadRecord } from "@agentcli/protocol";

export interface Instructions {
  /** Replaces the default instructions. */
  base?: string | null | undefined;
  /** Added to the default instructions. */
  developer?: string | null | undefined;
}

export const withInstructions = (records: ThreadRecord[], { base, developer }: Instructions): ThreadRecord[] =>
  records.map((record) => {
    if (record.type !== "thread.created") return record;
    const { frozen } = record;
    const context = developer
      ? [{ role: "developer" as const, parts: [{ type: "text" as const, text: developer }] }, ...frozen.context]
      : frozen.context;
    return { ...record, frozen: { ...frozen, instructions: base ?? frozen.instructions, context } };
  });
