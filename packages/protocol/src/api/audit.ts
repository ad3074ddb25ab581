// The audit log as administrators of a team read it.
import { z } from "zod";
import { pageOf, Timestamp } from "./common.ts";

export const AuditQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, "must be a cursor of an earlier page")
    .optional(),
  action: z.string().min(1).max(100).optional().describe("The beginning of an action: run, api_key.created"),
  actor: z.string().min(1).max(200).optional().describe("As entries name it: user:1"),
});
export type AuditQuery = z.infer<typeof AuditQuery>;

export const AuditEntry = z.object({
  seq: z.int(),
  at: Timestamp,
  actor: z.string(),
  actorName: z.string().describe("The address of a user, the name of a service account, else the actor"),
  action: z.string(),
  subject: z.string(),
  data: z.record(z.string(), z.unknown()),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditPage = pageOf(AuditEntry);
export type AuditPage = z.infer<typeof AuditPage>;
