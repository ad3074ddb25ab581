// The published schema of the protocol, and the file of each of its types.

export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  required?: string[];
  description?: string;
  [keyword: string]: unknown;
}

export interface Bundle {
  $schema: string;
  title: string;
  version: string;
  methods: {
    clientRequests: Record<string, { params: string; result: string }>;
    serverRequests: Record<string, { params: string; result: string }>;
    serverNotifications: Record<string, { params: string }>;
  };
  definitions: Record<string, JsonSchema>;
}

export async function loadBundle(): Promise<Bundle> {
  const { default: bundle } = await import("@agentcli/protocol/schemas/app-server");
  return bundle as unknown as Bundle;
}

export type Folder = "" | "v1" | "v2";

/** Envelopes and server requests belong to no version; the handshake belongs to the first. */
export function folderOf(name: string, { methods }: Bundle): Folder {
  const asked = Object.values(methods.serverRequests).some(({ params, result }) => [params, result].includes(name));
  if (
    asked ||
    /^(JSONRPC|Client(Request|Notification)$|Server(Request|Notification)$|RequestId$|JsonValue$)/.test(name)
  )
    return "";
  return /^(Initialize|ClientInfo)/.test(name) ? "v1" : "v2";
}

/** Every type a schema mentions. */
export function mentionedIn(schema: unknown): string[] {
  const text = JSON.stringify(schema);
  return [...new Set([...text.matchAll(/"#\/definitions\/(\w+)"/g)].map(([, name]) => name ?? ""))];
}
