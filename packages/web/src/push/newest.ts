// Which notifications are shown: one for each agent or build, of the eight newest, and one for all others together. Pure.
export interface AgentNotification {
  tag: string;
  data: NotificationFacts | null;
}

export interface NotificationFacts {
  path: string;
  at: number;
  /** The name of the agent. */
  title?: string;
  /** So many of this agent have come since a person looked. */
  count?: number;
  /** Of the notification for all others: newest first. */
  others?: OtherAgent[];
}

export interface OtherAgent {
  tag: string;
  title: string;
}

/** Of the notification for all agents that gave way. */
export const othersTag = "others";

const maxAgents = 8;
const maxOthers = 100;

/** Those that give way to the one that was just shown for the agent `tag`. */
export function givingWay<Shown extends AgentNotification>(shown: Shown[], tag: string): Shown[] {
  const others = shown.filter((one) => one.tag !== tag && one.tag !== othersTag);
  return others.sort((left, right) => (right.data?.at ?? 0) - (left.data?.at ?? 0)).slice(maxAgents - 1);
}

export function countOf(shown: AgentNotification[], tag: string): number {
  const before = shown.find((one) => one.tag === tag);
  return before === undefined ? 1 : (before.data?.count ?? 1) + 1;
}

/** What an agent has that has come again says: how often. */
export const titleOf = (title: string, count: number): string => (count === 1 ? title : `${title} (${count})`);

/** The agents that are in the notification for all others, after the agent `tag` was shown and `closed` gave way to it. */
export function othersAfter(shown: AgentNotification[], tag: string, closed: AgentNotification[]): OtherAgent[] {
  const joining = closed.map((one): OtherAgent => ({ tag: one.tag, title: one.data?.title ?? "An agent" }));
  const before = shown.find((one) => one.tag === othersTag)?.data?.others ?? [];
  const kept = before.filter((one) => one.tag !== tag && !joining.some((other) => other.tag === one.tag));
  return [...joining, ...kept].slice(0, maxOthers);
}

const maxNamed = 4;

export function describeOthers(others: OtherAgent[]): { title: string; body: string } {
  const named = others.slice(0, maxNamed).map(({ title }) => title);
  const rest = others.length - named.length;
  return {
    title: `${others.length} more ${nounOf(others)}${others.length === 1 ? "" : "s"}`,
    body: [...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join("\n"),
  };
}

/** Draft builds notify as well. */
const nounOf = (others: OtherAgent[]): string =>
  others.some(({ tag }) => tag.startsWith("bld-")) ? "notification" : "agent";
