// Whether this machine can confine agents. Their commands must reach the network only through the proxy; a sandbox
// that cannot enforce this counts as unavailable.
import { join } from "node:path";
import {
  probeOtherUser,
  probeSandbox,
  proxyUnavailable,
  type SandboxProbe,
  supportsProxy,
  type UnavailableBackEnd,
} from "@agentcli/workspace";
import type { Settings } from "../../../foundation/index.ts";
import { firstAgentUser } from "./agent-user.ts";
import { findReadableSecret } from "./secret-paths.ts";

/** `sharedUser`: why all agents run as the user of the server; undefined if each has its own. */
export type AgentProbe =
  | (Extract<SandboxProbe, { kind: "available" }> & { sharedUser: string | undefined })
  | Extract<SandboxProbe, { kind: "unavailable" }>;

export async function probeForAgents(settings: Settings): Promise<AgentProbe> {
  const { variables, programDirectory, dataDirectory } = settings;
  const secret = await findReadableSecret(settings);
  if (secret !== null) return { kind: "unavailable", ...secret };
  const found = await probeSandbox({
    path: variables.PATH ?? "",
    untrusted: [join(dataDirectory, "workspaces")],
    serverProgram: join(programDirectory, "workspace-server.cjs"),
  });
  if (found.kind === "unavailable") return found;
  if (!supportsProxy(found.backEnd)) return withoutProxy(found.backEnd, found.shortfalls);
  return { ...found, sharedUser: await probeOtherUser(found.backEnd, firstAgentUser) };
}

function withoutProxy(backEnd: Parameters<typeof proxyUnavailable>[0], shortfalls: UnavailableBackEnd[]): AgentProbe {
  const [reason, remedy] = proxyUnavailable(backEnd);
  const [better = { reason, remedy }] = shortfalls;
  return { kind: "unavailable", reason: better.reason, remedy: better.remedy };
}
