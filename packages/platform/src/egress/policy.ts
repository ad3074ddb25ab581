// What the machine of an agent may reach: the policy that wins of team, user and environment, as one list. Pure.
import type { EgressPolicy, TeamEgress, UserEgress } from "@agentcli/protocol/api";
import type { EnvironmentFile } from "@agentcli/protocol/environment-file";
import { presetHosts } from "./presets.ts";

export interface PolicySources {
  team: TeamEgress | null;
  user: UserEgress | null;
  environment: EnvironmentFile["egress"];
  /** Of the platform and of the repositories: always reached. */
  always: string[];
}

/** A locked policy of the team, then the environment's own, then the user's, then the team's. */
export function resolvePolicy({ team, user, environment, always }: PolicySources): EgressPolicy {
  const inherited = inheritedPolicy(team, user);
  const own = inherited.locked ? undefined : environment;
  const { mode, source, list } = withEnvironment(inherited, own);
  return { mode, source, locked: inherited.locked, allowed: [...new Set([...hostsOf(mode, list), ...always])] };
}

/** Of runs that only propose: they reach nothing at all, not even the platform. */
export const denyAllPolicy: EgressPolicy = { mode: "allowlist_only", source: "automation", locked: true, allowed: [] };

/** How the list is called in messages. */
export const policyName = ({ mode, source, locked }: Pick<EgressPolicy, "mode" | "source" | "locked">): string =>
  source === "server"
    ? "the egress policy (allow_all: public hosts on ports 80 and 443)"
    : `the egress policy of the ${source} (${mode}${locked ? ", locked" : ""})`;

interface ListedPolicy extends Pick<EgressPolicy, "mode" | "source"> {
  list: string[];
}

function inheritedPolicy(team: TeamEgress | null, user: UserEgress | null): ListedPolicy & { locked: boolean } {
  if (team?.locked) return { mode: team.mode, source: "team", list: team.allowlist, locked: true };
  if (user) return { mode: user.mode, source: "user", list: user.allowlist, locked: false };
  if (team) return { mode: team.mode, source: "team", list: team.allowlist, locked: false };
  return { mode: "allow_all", source: "server", list: [], locked: false };
}

function withEnvironment(inherited: ListedPolicy, own: PolicySources["environment"]): ListedPolicy {
  const list = own?.allowlist ?? [];
  switch (own?.mode) {
    case undefined:
    case "inherit":
      return inherited;
    case "inherit_plus":
      return { ...inherited, list: [...inherited.list, ...list] };
    case "allow_all":
    case "default_plus_allowlist":
    case "allowlist_only":
      return { mode: own.mode, source: "environment", list };
  }
}

function hostsOf(mode: EgressPolicy["mode"], list: string[]): string[] {
  switch (mode) {
    case "allow_all":
      return ["*", ...list];
    case "default_plus_allowlist":
      return [...presetHosts, ...list];
    case "allowlist_only":
      return list;
  }
}
