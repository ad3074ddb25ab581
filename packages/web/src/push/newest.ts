// Which notifications stay: one for each agent, of the newest agents.
export interface AgentNotification {
  tag: string;
  data: { path: string; at: number } | null;
}

const maxAgents = 8;

/** Those that give way to the one that was just shown for the agent `tag`. */
export function givingWay<Shown extends AgentNotification>(shown: Shown[], tag: string): Shown[] {
  const others = shown.filter((one) => one.tag !== tag);
  return others.sort((left, right) => (right.data?.at ?? 0) - (left.data?.at ?? 0)).slice(maxAgents - 1);
}
