// What the pages of automations read, and what they say of a trigger.
import type { Automation, AutomationAlert, Firing, Mention, Proposal } from "@agentcli/protocol/api";
import { queryOptions } from "@tanstack/react-query";
import { request } from "../api/request.ts";
import { session } from "../api/session.ts";

const calmMs = 10_000;

export const automationsQuery = queryOptions({
  queryKey: ["automations"],
  queryFn: ({ signal }) => request<{ items: Automation[] }>("/v1/automations?limit=100", { signal }),
  refetchInterval: calmMs,
});

export const refusedMentionsQuery = queryOptions({
  queryKey: ["mentions", "refused"],
  queryFn: ({ signal }) => request<{ items: Mention[] }>("/v1/mentions?status=refused&limit=20", { signal }),
  refetchInterval: calmMs,
});

export const automationQuery = (id: string) =>
  queryOptions({
    queryKey: ["automations", id],
    queryFn: async ({ signal }) => {
      const path = `/v1/automations/${encodeURIComponent(id)}`;
      const [automation, firings, alerts] = await Promise.all([
        request<Automation>(path, { signal }),
        request<{ items: Firing[] }>(`${path}/firings?limit=50`, { signal }),
        request<{ items: AutomationAlert[] }>(`${path}/alerts?limit=20`, { signal }),
      ]);
      return { automation, firings: firings.items, alerts: alerts.items };
    },
    refetchInterval: calmMs,
  });

export const proposalsQuery = ({ automationId, id }: Firing) =>
  queryOptions({
    queryKey: ["automations", automationId, "proposals", id],
    queryFn: ({ signal }) =>
      request<{ items: Proposal[] }>(
        `/v1/automations/${encodeURIComponent(automationId)}/firings/${encodeURIComponent(id)}/proposals`,
        { signal },
      ),
  });

export const mayManage = ({ ownerUserId, scope }: Automation): boolean =>
  ownerUserId === session.userId || (scope === "team_owned" && session.isAdmin);

export const triggerText = (trigger: Automation["triggers"][number]): string => {
  if (trigger.type === "cron") return `${trigger.cron} (${trigger.timezone})`;
  if (trigger.type === "webhook") return "Webhook";
  return `GitHub: ${trigger.event}`;
};

export const sourceWords: Record<Firing["source"], string> = {
  schedule: "Schedule",
  webhook: "Webhook",
  manual: "A person",
  github: "GitHub",
  git_host: "Git host",
};

export const scopeWords: Record<Automation["scope"], string> = {
  private: "Private",
  team_visible: "Seen by the team",
  team_owned: "Of the team",
};
