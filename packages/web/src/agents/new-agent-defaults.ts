// What the form of a new agent begins with: the settings of the visitor, else those of the team, else what is offered first.
import type { NewAgentDefault } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { modelsQuery, repositoriesQuery } from "../api/queries.ts";
import { teamSettingsQuery, userSettingsQuery } from "../settings/queries.ts";

export interface NewAgentDefaults {
  start: NewAgentDefault;
  /** Empty: the server has none. */
  model: string;
  /** Until then it is not known where an agent would start. */
  isPending: boolean;
}

export function useNewAgentDefaults(): NewAgentDefaults {
  const { data: offered, isPending: isListing } = useQuery(repositoriesQuery);
  const { data: models } = useQuery(modelsQuery);
  const { data: own, isPending: isOwnPending } = useQuery(userSettingsQuery);
  const { data: team, isPending: isTeamPending } = useQuery(teamSettingsQuery);
  const named = own?.newAgent ?? team?.newAgent;
  const model = own?.defaultModel?.id ?? team?.defaultModel?.id ?? "";
  const first = models?.items[0]?.id ?? "";
  return {
    start: named ?? { repository: offered?.items[0]?.url ?? "" },
    model: models?.items.some(({ id }) => id === model) ? model : first,
    isPending: isOwnPending || isTeamPending || (!named && isListing),
  };
}

export interface Typed {
  /** Null where nothing was chosen. */
  repository: string | null;
  environment: string | null;
  branch: string | null;
}

export interface Start {
  repository: string;
  branch: string;
  /** Empty: none. */
  environment: string;
}

/** What was chosen wins; a branch goes with its repository, and an environment brings its own. */
export function startOf({ repository, environment, branch }: Typed, start: NewAgentDefault): Start {
  const named = "environment" in start ? { environment: start.environment, repository: "", branch: "" } : null;
  if (named && repository === null && environment === null) return named;
  if (environment !== null && environment !== "") return { environment, repository: "", branch: "" };
  const byDefault = "environment" in start ? { repository: "" } : start;
  const chosen = repository ?? byDefault.repository;
  const usual = chosen === byDefault.repository ? (byDefault.branch ?? "") : "";
  return { environment: "", repository: chosen, branch: branch ?? usual };
}
