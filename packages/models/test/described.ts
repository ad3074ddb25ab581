// Requests as the vendors describe them: whatever a test sends is checked by the facts of the description that are
// written down here, and by a copy of the published document that OPENAI_DESCRIPTION or ANTHROPIC_DESCRIPTION names.
import type { LoggedRequest } from "@agentcli/testkit";
import { expect } from "vitest";
import type { Provider } from "../src/index.ts";
import { CreateChatCompletionRequest, CreateResponse } from "./openai-description.ts";
import { openApiCheck } from "./openapi.ts";

type Check = (body: unknown) => string;

/** What the description of the wire finds wrong with a body; empty if nothing. */
export const describedBy: Record<Provider["wireApi"], Check[]> = {
  responses: [factCheck(CreateResponse), ...documentCheck(process.env.OPENAI_DESCRIPTION, "CreateResponse")],
  chat: [
    factCheck(CreateChatCompletionRequest),
    ...documentCheck(process.env.OPENAI_DESCRIPTION, "CreateChatCompletionRequest"),
  ],
  // Without facts of its own: the types of the library say the same (request-types.test.ts).
  anthropic: documentCheck(process.env.ANTHROPIC_DESCRIPTION, "CreateMessageParams"),
};

export function expectDescribed(wire: Provider["wireApi"], requests: LoggedRequest[]): void {
  for (const { method, body } of requests)
    if (method === "POST") for (const check of describedBy[wire]) expect(check(described(body))).toBe("");
}

/**
 * Without what servers take though their description does not name it, and with what only stored items have: servers
 * take what the model wrote without its id, as clients send it that have nothing stored.
 */
export function described(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (name, value) => {
    if (name === "client_metadata") return undefined;
    const { type, role } = (value ?? {}) as { type?: unknown; role?: unknown };
    if (type === "message" && role === "assistant") return { id: "msg_1", status: "completed", ...value };
    if (type === "reasoning") return { id: "rs_1", ...value };
    return type === "output_text" ? { annotations: [], logprobs: [], ...value } : value;
  });
}

function factCheck(facts: typeof CreateResponse | typeof CreateChatCompletionRequest): Check {
  return (body) => facts.safeParse(body).error?.message ?? "";
}

function documentCheck(file: string | undefined, name: string): Check[] {
  return file === undefined ? [] : [openApiCheck(file, name)];
}
