// What this package needs from the host.

import type { Workspace } from "@agentcli/protocol";
import type { Json, JsonObject } from "./json.ts";
import type { HttpTransport, StdioTransport } from "./settings.ts";
import type { Authorization, LookupFor, Variables } from "./transport/index.ts";

/** The user's answer to an elicitation request of a server. */
export type ElicitationResult =
  | { action: "accept"; content: { [key: string]: Json } }
  | { action: "decline" | "cancel" };

export interface McpHost {
  client: { name: string; version: string };
  /** The working directory that servers see as their root. */
  root: string;
  /** The environment of the host; servers inherit little of it. */
  variables: Variables;
  /** Where the process of a server runs. Called again when it restarts. */
  workspaceFor(transport: StdioTransport): Promise<Workspace>;
  /** How requests to a server without a configured token are authorised. */
  authorize(server: string, transport: HttpTransport): Authorization;
  /** Runs the user's headers helper. Rejects with a message for people if it fails. */
  headersFrom?(command: string): Promise<Record<string, string>>;
  /** Restricts where requests may go. Absent: anywhere. */
  lookupFor?: LookupFor;
  /** Removes what a person would not see in a description: the model must not read more than the user. */
  sanitize(text: string): string;
  /** Asks the user on behalf of a server. Absent: elicitation requests are declined. */
  elicit?(server: string, question: JsonObject): Promise<ElicitationResult>;
}
