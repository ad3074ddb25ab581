// What a team, or the caller, has used and spent: by day, model, person, agent, repository, automation and tag, with the
// limits of this month.
import { z } from "zod";
import { Timestamp } from "./common.ts";

export const SpendingQuery = z.strictObject({
  of: z.enum(["me", "team"]).default("me").describe("team: for administrators"),
  days: z.coerce.number().int().min(1).max(366).default(30).describe("Up to today, in UTC"),
});
export type SpendingQuery = z.infer<typeof SpendingQuery>;

const amounts = {
  runs: z.int(),
  calls: z.int().describe("Model calls of programs outside"),
  tokens: z.number(),
  costCents: z.number().describe("Of everything with a known price"),
  unpriced: z.int().describe("Runs and calls without a known price"),
};

export const SpendingEntry = z.object({ id: z.string(), name: z.string(), ...amounts });
export type SpendingEntry = z.infer<typeof SpendingEntry>;

export const SpendingDay = z.object({ day: z.iso.date(), ...amounts });
export type SpendingDay = z.infer<typeof SpendingDay>;

export const SpendingTag = z.object({ key: z.string(), value: z.string(), ...amounts });
export type SpendingTag = z.infer<typeof SpendingTag>;

const SpendLimit = z.object({
  of: z.enum(["user", "team"]),
  limitCents: z.number(),
  spentCents: z.number().describe("This calendar month, in UTC"),
});

export const Spending = z.object({
  of: z.enum(["me", "team"]),
  since: Timestamp,
  total: z.object(amounts),
  days: z.array(SpendingDay).describe("Every day, oldest first"),
  models: z.array(SpendingEntry),
  people: z.array(SpendingEntry).describe("Users and service accounts"),
  agents: z.array(SpendingEntry).describe("The 20 that cost most"),
  repositories: z.array(SpendingEntry).describe("The 20 that cost most; an agent with several counts in each"),
  automations: z.array(SpendingEntry).describe("The 20 that cost most, by the agents that they started"),
  tags: z
    .array(SpendingTag)
    .describe("Metadata of agents: the 50 entries that cost most; an agent with several counts in each"),
  otherTags: z.int().describe("How many entries beyond those 50"),
  untagged: z
    .object(amounts)
    .describe("Of agents without metadata, of deleted agents, and of model calls of programs outside"),
  uncounted: z
    .object(amounts)
    .describe(
      "In none of repositories, automations and tags: of agents beyond the 500 that cost most, and of those that the caller may not read",
    ),
  limits: z.array(SpendLimit),
});
export type Spending = z.infer<typeof Spending>;
