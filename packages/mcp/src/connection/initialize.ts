// Initializes a server: agrees on a protocol version, exchanges capabilities.
import { isObject, type JsonObject, textOf } from "../json.ts";
import type { Fault, RpcClient } from "./rpc-client.ts";

export const latestVersion = "2025-11-25";
const supportedVersions = [latestVersion, "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

export interface InitializeResult {
  /** The server's own name and version. */
  info: JsonObject | null;
  capabilities: { tools: boolean; resources: boolean; prompts: boolean };
}

export interface InitializeOptions {
  clientInfo: { name: string; version: string };
  timeoutMs: number;
}

export type InitializeOutcome = { kind: "initialized"; result: InitializeResult } | { kind: "fault"; fault: Fault };

export async function initialize(
  client: RpcClient,
  { clientInfo, timeoutMs }: InitializeOptions,
  signal: AbortSignal,
): Promise<InitializeOutcome> {
  const params: JsonObject = {
    protocolVersion: latestVersion,
    capabilities: { roots: {}, elicitation: { form: {} } },
    clientInfo: { ...clientInfo },
  };
  const response = await client.request({ method: "initialize", params, idleTimeoutMs: timeoutMs }, signal);
  if (response.kind === "fault") return response;
  const version = textOf(response.result.protocolVersion) ?? "";
  if (!supportedVersions.includes(version)) return unsupportedVersion(version);
  client.setProtocolVersion(version);
  client.notify("notifications/initialized");
  return { kind: "initialized", result: readInitializeResult(response.result) };
}

export function readInitializeResult(result: JsonObject): InitializeResult {
  const offered = isObject(result.capabilities) ? result.capabilities : {};
  const capabilities = {
    tools: isObject(offered.tools),
    resources: isObject(offered.resources),
    prompts: isObject(offered.prompts),
  };
  return { info: isObject(result.serverInfo) ? result.serverInfo : null, capabilities };
}

const unsupportedVersion = (version: string): InitializeOutcome => ({
  kind: "fault",
  fault: {
    kind: "refused",
    message: version
      ? `unsupported MCP protocol version ${JSON.stringify(version.slice(0, 40))}; supported: ${supportedVersions.join(", ")}`
      : "its initialize response has no protocol version",
  },
});
