// MCP servers in a request.
import { z } from "zod";
import { unprintable, unprintableProblem } from "../names.ts";
import { withoutUser } from "./common.ts";

const name = z
  .string()
  .regex(/^[^\x00-\x1f\x7f]{1,64}$/, "1 to 64 characters that can be seen")
  .refine((text) => !unprintable.test(text), unprintableProblem);
const pairs = z.record(z.string().min(1).max(255), z.string().max(8192));

const RemoteServer = z.strictObject({
  name,
  type: z.enum(["http", "sse"]).optional(),
  url: z.url({ protocol: /^https?$/ }).refine(withoutUser, "must not carry a user name or password; use headers"),
  headers: pairs.optional(),
  /** Part of the wire, and refused. */
  auth: z
    .strictObject({
      CLIENT_ID: z.string().min(1),
      CLIENT_SECRET: z.string().optional(),
      scopes: z.array(z.string()).optional(),
    })
    .optional(),
});

const LocalServer = z.strictObject({
  name,
  type: z.literal("stdio").optional(),
  command: z.string().min(1).max(4096),
  args: z.array(z.string().max(8192)).max(200).optional(),
  env: pairs.optional(),
});

export const McpServer = z.union([RemoteServer, LocalServer]);
export type McpServer = z.infer<typeof McpServer>;

/** The client secret alone does not say who may act for the user. */
const noLogin =
  "cloud agents cannot log in to MCP servers, because no user is present; send a token in headers, such as authorization";

export const McpServers = z
  .array(McpServer)
  .max(50)
  .superRefine((servers, context) => {
    const names = new Set<string>();
    servers.forEach((server, index) => {
      if (names.has(server.name))
        context.addIssue({ code: "custom", path: [index, "name"], message: `duplicate name "${server.name}"` });
      if (server.type === "sse")
        context.addIssue({ code: "custom", path: [index, "type"], message: "cloud agents do not speak sse; use http" });
      if ("auth" in server && server.auth !== undefined)
        context.addIssue({ code: "custom", path: [index, "auth"], message: noLogin });
      names.add(server.name);
    });
  });
