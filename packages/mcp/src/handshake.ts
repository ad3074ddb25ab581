// Says hello to a server: which version both speak, what each can do.
import type { Conversation, Fault } from "./conversation.ts";
import { isObject, type JsonObject, textOf } from "./json.ts";

export const newestVersion = "2025-11-25";
const knownVersions = [newestVersion, "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

export interface Hello {
  /** How the server calls itself. */
  info: JsonObject | null;
  capabilities: { tools: boolean; resources: boolean; prompts: boolean };
}

export interface Introduction {
  client: { name: string; version: string };
  limitMs: number;
}

export type Greeted = { kind: "hello"; hello: Hello } | { kind: "fault"; fault: Fault };

export async function shakeHands(
  conversation: Conversation,
  { client, limitMs }: Introduction,
  signal: AbortSignal,
): Promise<Greeted> {
  const params: JsonObject = {
    protocolVersion: newestVersion,
    capabilities: { roots: {}, elicitation: { form: {} } },
    clientInfo: { ...client },
  };
  const answer = await conversation.ask({ method: "initialize", params, limitMs }, signal);
  if (answer.kind === "fault") return answer;
  const version = textOf(answer.result.protocolVersion) ?? "";
  if (!knownVersions.includes(version)) return unknownVersion(version);
  conversation.agreed(version);
  conversation.notify("notifications/initialized");
  return { kind: "hello", hello: readHello(answer.result) };
}

export function readHello(result: JsonObject): Hello {
  const offered = isObject(result.capabilities) ? result.capabilities : {};
  const capabilities = {
    tools: isObject(offered.tools),
    resources: isObject(offered.resources),
    prompts: isObject(offered.prompts),
  };
  return { info: isObject(result.serverInfo) ? result.serverInfo : null, capabilities };
}

const unknownVersion = (version: string): Greeted => ({
  kind: "fault",
  fault: {
    kind: "refused",
    message: version
      ? `it speaks version ${JSON.stringify(version.slice(0, 40))} of MCP; known are ${knownVersions.join(", ")}`
      : "its greeting names no version of MCP",
  },
});
