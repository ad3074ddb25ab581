// What this package needs from the program around it.
import type { Workspace } from "@agentcli/protocol";
import type { Authorization } from "./authorization.ts";
import type { Variables } from "./environment.ts";
import type { Reach } from "./exchange.ts";
import type { Json, JsonObject } from "./json.ts";
import type { HttpTransport, StdioTransport } from "./settings.ts";

/** What a person answered to a question of a server. */
export type Elicited = { action: "accept"; content: { [key: string]: Json } } | { action: "decline" | "cancel" };

export interface McpHost {
  client: { name: string; version: string };
  /** The directory servers are told to work in. */
  root: string;
  /** The environment of the host; servers get little of it. */
  variables: Variables;
  /** Where the process of a server runs. Called again when a server is started again. */
  workspaceFor(transport: StdioTransport): Promise<Workspace>;
  /** How requests to a server without a configured token are authorised. */
  authorize(server: string, transport: HttpTransport): Authorization;
  /** Headers as a program of the user's prints them. Rejects, with a message for people, where it does not. */
  headersFrom?(command: string): Promise<Record<string, string>>;
  /** Where requests to servers may go; absent: wherever their address leads. */
  reach?: Reach;
  /** Takes out of a description what a person would not see in it: the model is not to read more than the user. */
  clean(text: string): string;
  /** Puts a question of a server to a person; where nobody is there, it is declined. */
  elicit?(server: string, question: JsonObject): Promise<Elicited>;
}
