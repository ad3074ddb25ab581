// The inbox of a user: what agents and automations need a person for.
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { AgentOverview } from "./overview.ts";
import { maxInboxItems } from "./plain.ts";

export const InboxKind = z
  .enum(["result", "failed_run", "automation", "approval"])
  .describe(
    "A result to review, a run that failed, a firing of an automation that did not lead to a good run, or a decision that the user may make: whether a draft build becomes active, whether an automation in shadow mode may act",
  );
export type InboxKind = z.infer<typeof InboxKind>;

export const InboxState = z.enum(["unread", "read", "done"]).describe("done: it leaves the inbox");
export type InboxState = z.infer<typeof InboxState>;

export const InboxItem = z.object({
  id: z.string().describe("run-<uuid>, alert-<uuid>, bld-YYYYMMDD-<uuid> or fire-<uuid>"),
  kind: InboxKind,
  isUnread: z.boolean(),
  title: z.string().describe("The name of the agent, automation or environment"),
  message: z.string().describe("The beginning of the result, what went wrong, or what is to be decided"),
  at: Timestamp,
  agent: AgentOverview.optional(),
  automationId: z.string().optional(),
  environmentId: z.string().optional().describe("Of a draft build, whose id is that of the item"),
});
export type InboxItem = z.infer<typeof InboxItem>;

export const Inbox = z.object({
  items: z.array(InboxItem).describe(`The newest ${maxInboxItems}, newest first`),
  unread: z.int(),
});
export type Inbox = z.infer<typeof Inbox>;

export const ChangeInbox = z.strictObject({
  items: z.array(z.string().min(1).max(100)).min(1).max(maxInboxItems).describe("Ids of items"),
  state: InboxState,
});
export type ChangeInbox = z.infer<typeof ChangeInbox>;

export const InboxChange = z.object({ items: z.array(z.string()) });
