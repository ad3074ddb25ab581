// Secrets that the proxy of a run puts into requests, and what the commands of the run need for that: certificates that they trust.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openPlaceholders, type Placeholders } from "@agentcli/workspace";
import type { Settings } from "../../../foundation/index.ts";
import { type RunSocket, socketPath } from "../agent-socket.ts";
import type { RunPlan } from "../compose/plan.ts";

export interface ProxySecrets {
  placeholders: Placeholders | undefined;
  /** Variables of commands. */
  variables: Record<string, string>;
}

export const noProxySecrets: ProxySecrets = { placeholders: undefined, variables: {} };

const pemName = "authorities.pem";
const javaStoreName = "authorities.jks";

interface ProxySecretsContext {
  plan: Pick<RunPlan, "boundSecrets">;
  socket: Pick<RunSocket, "directory"> | null;
  host: { settings: Pick<Settings, "variables"> };
}

/** The key of the authority is in the memory of this server alone, and only for this run. */
export async function openProxySecrets({ plan, socket, host }: ProxySecretsContext): Promise<ProxySecrets> {
  if (plan.boundSecrets.length === 0 || socket === null) return noProxySecrets;
  const { NODE_EXTRA_CA_CERTS: extraCertificates } = host.settings.variables;
  const placeholders = await openPlaceholders({ secrets: plan.boundSecrets, extraCertificates });
  const { pem, javaStore } = placeholders.files();
  // Beside the socket: commands see them there, read-only. In a directory of the agent a link could lead the server elsewhere.
  writeFileSync(join(socket.directory, pemName), pem, { mode: 0o644 });
  writeFileSync(join(socket.directory, javaStoreName), javaStore, { mode: 0o644 });
  const inside = { pem: join(dirname(socketPath), pemName), javaStore: join(dirname(socketPath), javaStoreName) };
  return { placeholders, variables: placeholders.variables(inside) };
}
