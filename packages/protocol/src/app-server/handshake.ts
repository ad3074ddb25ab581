// The first request of a connection: the client, and the notifications it wants.
import { z } from "zod";
import { JsonValue, maybe, whole } from "./maybe.ts";

export const RequestId = z.union([z.string(), whole]);
export type RequestId = z.infer<typeof RequestId>;

export const ClientInfo = z.object({ name: z.string(), title: maybe(z.string()), version: z.string() });
export type ClientInfo = z.infer<typeof ClientInfo>;

export const InitializeParams = z.object({
  clientInfo: ClientInfo,
  capabilities: maybe(
    z.object({
      experimentalApi: maybe(z.boolean()),
      optOutNotificationMethods: maybe(z.array(z.string())).describe("Notifications that are not sent to this client"),
      requestAttestation: maybe(z.boolean()),
      extensions: maybe(z.record(z.string(), JsonValue)),
      mcpServerOpenaiFormElicitation: maybe(z.boolean()),
    }),
  ),
});
export const InitializeResponse = z.object({
  userAgent: z.string(),
  agentHome: z.string(),
  codexHome: z.string().describe("The agent home, for existing clients"),
  platformFamily: z.enum(["unix", "windows"]),
  platformOs: z.string(),
});
export type InitializeResponse = z.infer<typeof InitializeResponse>;

/** The result of requests that return nothing. */
export const EmptyResponse = z.object({});
export const NoParams = z.object({});
