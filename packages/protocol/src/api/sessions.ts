// Browsers in which a user is logged in: `/v1/me/sessions`.
import { z } from "zod";
import { Timestamp } from "./common.ts";

export const SessionId = z.object({ sessionId: z.string().max(100) });

export const BrowserSession = z
  .object({
    id: z.string(),
    method: z.enum(["link", "oidc", "invitation"]).describe("How the user logged in"),
    isCurrent: z.boolean().describe("Whether it sent this request"),
    createdAt: Timestamp,
    lastSeenAt: Timestamp.describe("To the minute"),
    expiresAt: Timestamp.describe("If it is not used until then"),
  })
  .meta({ id: "BrowserSession" });
export type BrowserSession = z.infer<typeof BrowserSession>;

export const BrowserSessionList = z.object({ items: z.array(BrowserSession) }).meta({ id: "BrowserSessionList" });
export type BrowserSessionList = z.infer<typeof BrowserSessionList>;
