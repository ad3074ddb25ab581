// Reads the policies that apply to an agent from the database.
import type { EgressPolicy } from "@agentcli/protocol/api";
import { loadMachineParts } from "@agentcli/workspace";
import { ApiError, type Queries } from "../foundation/index.ts";
import { type EgressSettings, readEgressSettings } from "../identity/index.ts";
import { type PolicySources, resolvePolicy } from "./policy.ts";

export interface PolicyRequest extends Pick<PolicySources, "environment"> {
  agent: { teamId: number; userId: number | null; settings: { repos: { url: string }[] } };
  publicUrl: string;
}

export async function readPolicy(db: Queries, { agent, environment, publicUrl }: PolicyRequest): Promise<EgressPolicy> {
  return policyOf(await readEgressSettings(db, agent), { agent, environment, publicUrl });
}

export function policyOf(
  { team, user }: EgressSettings,
  { agent, environment, publicUrl }: PolicyRequest,
): EgressPolicy {
  const always = [publicUrl, ...agent.settings.repos.map(({ url }) => url)].flatMap(hostOf);
  return resolvePolicy({ team, user, environment, always });
}

/** With its port, if that is neither 80 nor 443. Addresses are not listed: a private one would be reached then. */
function hostOf(url: string): string[] {
  const [, authority] = /^(?:https?|ssh|git):\/\/(?:[^@/]*@)?([^/?#]+)/i.exec(url) ?? [];
  const host = authority ?? /^[^@/:]+@([^:/]+):/.exec(url)?.[1];
  if (host === undefined || /^[\d.]+(?::\d+)?$|^\[|^localhost(?::|$)/i.test(host)) return [];
  return [host.toLowerCase()];
}

/** Throws ApiError for an entry that is neither a name nor an address. */
export async function checkAllowlist(list: string[] | undefined): Promise<void> {
  if (list === undefined || list.length === 0) return;
  const { readRules } = await loadMachineParts();
  try {
    await readRules(list, []);
  } catch (error) {
    throw new ApiError("validation_error", `egress.allowlist: ${(error as Error).message}`);
  }
}
