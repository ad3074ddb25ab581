// Which environments a principal sees, and which one an agent belongs to: for groups that keep something per environment.
import type { AgentSettings, PlatformContext, Principal } from "../foundation/index.ts";
import type { EnvironmentAccess } from "./access.ts";
import type { EnvironmentRow } from "./store.ts";

export interface EnvironmentLookup extends Pick<EnvironmentAccess, "find"> {
  listIds(principal: Principal): Promise<string[]>;
  ofAgent(agent: AgentOwner): Promise<string | null>;
}

export interface AgentOwner {
  teamId: number;
  userId: number | null;
  settings: Pick<AgentSettings, "repos" | "env">;
}

export function openEnvironmentLookup({ db }: PlatformContext, access: EnvironmentAccess): EnvironmentLookup {
  const candidates = (teamId: number, userId: number | null): Promise<EnvironmentRow[]> =>
    db
      .selectFrom("environments")
      .selectAll()
      .where("team_id", "=", teamId)
      .where(({ eb, or }) => or([eb("user_id", "is", null), ...(userId === null ? [] : [eb("user_id", "=", userId)])]))
      .orderBy("created_at")
      .orderBy("id")
      .execute();
  return {
    find: access.find,
    async listIds(principal) {
      const found = await candidates(principal.teamId, principal.kind === "user" ? principal.userId : null);
      return (await access.visible(principal, found)).map(({ id }) => id);
    },
    async ofAgent({ teamId, userId, settings }) {
      const belongs = membership(settings);
      if (belongs === null) return null;
      const found = (await candidates(teamId, userId)).filter(belongs);
      return (found.find(({ user_id }) => user_id !== null) ?? found[0])?.id ?? null;
    },
  };
}

/** By its name, otherwise by its repositories: all of them and no others. Null: an agent that has neither belongs to none. */
function membership({ env, repos }: AgentOwner["settings"]): ((environment: EnvironmentRow) => boolean) | null {
  if (env?.type === "cloud" && env.name !== undefined) return ({ name }) => name === env.name;
  const group = groupOf(repos);
  return group === "" ? null : (environment) => groupOf(environment.repos) === group;
}

const groupOf = (repos: { url: string }[]): string =>
  [...new Set(repos.map(({ url }) => url.toLowerCase().replace(/(?:\.git)?\/*$/, "")))].toSorted().join(" ");
