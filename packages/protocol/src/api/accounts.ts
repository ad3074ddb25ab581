// A user's accounts on source hosts: `/v1/me/accounts`.
import { z } from "zod";
import { Timestamp } from "./common.ts";

export const AccountHost = z.object({ host: z.string().max(300) });

export const SourceAccount = z
  .object({ host: z.string(), login: z.string(), connectedAt: Timestamp })
  .meta({ id: "SourceAccount" });
export type SourceAccount = z.infer<typeof SourceAccount>;

export const SourceAccountList = z
  .object({
    items: z.array(SourceAccount),
    connectable: z
      .array(z.object({ host: z.string(), path: z.string().describe("Of the page that begins to connect one") }))
      .describe("Hosts where an account can be connected"),
  })
  .meta({ id: "SourceAccountList" });
export type SourceAccountList = z.infer<typeof SourceAccountList>;
