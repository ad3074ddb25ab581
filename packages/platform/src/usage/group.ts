// What agents were for: amounts by repository, automation and tag, and what is in none of them.
import type { Spending } from "@agentcli/protocol/api";
import { type Amounts, add, byCost, type Row } from "./amounts.ts";
import type { DescribedAgent } from "./described-agents.ts";

type Groups = Pick<Spending, "repositories" | "automations" | "tags" | "otherTags" | "untagged" | "uncounted">;

/** `rows` are of agents; `others` are runs of deleted agents and model calls of programs outside, which have no tags. */
export function groupAgents(rows: Row[], described: Map<string, DescribedAgent>, others: Amounts): Groups {
  const counted = rows.flatMap((amounts) => {
    const agent = described.get(amounts.id);
    return agent ? [{ agent, amounts }] : [];
  });
  const automations = new Map(
    counted.flatMap(({ agent }) => (agent.automationId === null ? [] : [[agent.automationId, agent.name]])),
  );
  const tags = sumGroups(counted, ({ tags }) => tags.map((tag) => JSON.stringify(tag)));
  return {
    repositories: sumGroups(counted, ({ repositories }) => repositories)
      .slice(0, maxEntries)
      .map((row) => ({ ...row, name: row.id })),
    automations: sumGroups(counted, ({ automationId }) => (automationId === null ? [] : [automationId]))
      .slice(0, maxEntries)
      .map((row) => ({ ...row, name: automations.get(row.id) ?? row.id })),
    tags: tags.slice(0, maxTags).map(({ id, ...amounts }) => {
      const [key, value] = JSON.parse(id) as [string, string];
      return { key, value, ...amounts };
    }),
    otherTags: Math.max(0, tags.length - maxTags),
    untagged: add([others, ...counted.filter(({ agent }) => agent.tags.length === 0).map(({ amounts }) => amounts)]),
    uncounted: add(rows.filter(({ id }) => !described.has(id))),
  };
}

export const maxEntries = 20;
const maxTags = 50;

interface Counted {
  agent: DescribedAgent;
  amounts: Row;
}

function sumGroups(counted: Counted[], groupsOf: (agent: DescribedAgent) => string[]): Row[] {
  const groups = new Map<string, Amounts[]>();
  for (const { agent, amounts } of counted)
    for (const id of groupsOf(agent)) {
      const group = groups.get(id) ?? [];
      group.push(amounts);
      groups.set(id, group);
    }
  return [...groups].map(([id, amounts]) => ({ id, ...add(amounts) })).sort(byCost);
}
