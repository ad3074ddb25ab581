// Schemas of routes are functions: a server builds a schema when it first needs it. It has thousands of them, each takes about
// a kilobyte, and most are only for the API description. A module of schemas is loaded with the first one of it.
import type { z } from "zod";

/** Called by the first request to a route, and by the first reader of the API description. */
export type Later<Schema extends z.ZodType> = () => Schema | Promise<Schema>;

const modules = {
  accounts: () => import("@agentcli/protocol/api/accounts"),
  agents: () => import("@agentcli/protocol/api/agents"),
  artifacts: () => import("@agentcli/protocol/api/artifacts"),
  audit: () => import("@agentcli/protocol/api/audit"),
  automations: () => import("@agentcli/protocol/api/automations"),
  backtests: () => import("@agentcli/protocol/api/backtests"),
  catalogue: () => import("@agentcli/protocol/api/catalogue"),
  common: () => import("@agentcli/protocol/api/common"),
  credentials: () => import("@agentcli/protocol/api/credentials"),
  diff: () => import("@agentcli/protocol/api/diff"),
  egress: () => import("@agentcli/protocol/api/egress"),
  "env-vars": () => import("@agentcli/protocol/api/env-vars"),
  environments: () => import("@agentcli/protocol/api/environments"),
  inbox: () => import("@agentcli/protocol/api/inbox"),
  inference: () => import("@agentcli/protocol/api/inference"),
  keys: () => import("@agentcli/protocol/api/keys"),
  members: () => import("@agentcli/protocol/api/members"),
  mentions: () => import("@agentcli/protocol/api/mentions"),
  overview: () => import("@agentcli/protocol/api/overview"),
  previews: () => import("@agentcli/protocol/api/previews"),
  problem: () => import("@agentcli/protocol/api/problem"),
  prompts: () => import("@agentcli/protocol/api/prompts"),
  pulls: () => import("@agentcli/protocol/api/pulls"),
  push: () => import("@agentcli/protocol/api/push"),
  repositories: () => import("@agentcli/protocol/api/repositories"),
  runs: () => import("@agentcli/protocol/api/runs"),
  secrets: () => import("@agentcli/protocol/api/secrets"),
  servers: () => import("@agentcli/protocol/api/servers"),
  sessions: () => import("@agentcli/protocol/api/sessions"),
  settings: () => import("@agentcli/protocol/api/settings"),
  spending: () => import("@agentcli/protocol/api/spending"),
  status: () => import("@agentcli/protocol/api/status"),
  stream: () => import("@agentcli/protocol/api/stream"),
  subagents: () => import("@agentcli/protocol/api/subagents"),
  subscriptions: () => import("@agentcli/protocol/api/subscriptions"),
  "tool-calls": () => import("@agentcli/protocol/api/tool-calls"),
  usage: () => import("@agentcli/protocol/api/usage"),
  v0: () => import("@agentcli/protocol/api/v0"),
  webhooks: () => import("@agentcli/protocol/api/webhooks"),
  workers: () => import("@agentcli/protocol/api/workers"),
};

type Topic = keyof typeof modules;
type Module<Name extends Topic> = Awaited<ReturnType<(typeof modules)[Name]>>;
type SchemaName<Of extends Topic> = {
  [Name in keyof Module<Of>]: Module<Of>[Name] extends z.ZodType ? Name : never;
}[keyof Module<Of>];

/** The schema of this name in `packages/protocol/src/api/<topic>.ts`. */
export function schema<Of extends Topic, Name extends SchemaName<Of>>(
  topic: Of,
  name: Name,
): Later<Extract<Module<Of>[Name], z.ZodType>> {
  const load = modules[topic] as () => Promise<Module<Of>>;
  return async () => (await load())[name] as Extract<Module<Of>[Name], z.ZodType>;
}
