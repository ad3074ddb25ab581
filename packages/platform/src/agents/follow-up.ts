// An agent for somebody's follow-up: theirs, or one of their team that takes it.
import type { Principal } from "../principals/index.ts";
import { relationOf } from "../sharing/index.ts";
import type { AgentHost } from "./routes.ts";
import type { ListedAgent } from "./views.ts";

/** The run will reach what its asker can, which may be less than the agent's owner: that is said before it begins. */
export async function findToFollowUp(
  { access, checkRepositories }: Pick<AgentHost, "access" | "checkRepositories">,
  principal: Principal,
  agentId: string,
): Promise<ListedAgent> {
  const agent = await access.find(principal, agentId, "follow_up");
  if (relationOf(principal, agent) !== "owner") await checkRepositories(principal, agent.settings.repos);
  return agent;
}
