// Authorization facts, written by hand: what each operation needs, and who may use it. A new operation needs a row here.

import { randomUUID } from "node:crypto";

export const everyday = [
  "agents:read",
  "agents:write",
  "inference:create",
  "repositories:read",
  "repositories:write",
] as const;
export type Scope = (typeof everyday)[number] | "admin";

export interface Row {
  /** Null where any key suffices. */
  scope: Scope | null;
  /** What is done with an agent; null where the operation has no existing agent. */
  sharing: "read" | "follow_up" | "manage" | "own" | null;
  /**
   * The operation is about a personal environment or a private automation of the user `owner`, the team itself, or what the
   * sender owns; or it is for service accounts or for browsers alone.
   */
  about?:
    | "environment"
    | "new environment"
    | "automation"
    | "new automation"
    | "change of the team"
    | "own"
    | "service account"
    | "session";
  /** Required state of the agent. */
  state?: "at work";
  query?: string;
  /** Of an answer to those who may, where the agent of this test has not what it needs. */
  status?: number;
  body?: (world: { repository: string }) => unknown;
}

const prompt = { text: "be quick" };
const read = { scope: "agents:read", sharing: "read" } as const;
const manage = { scope: "agents:write", sharing: "manage" } as const;
const followUp = { scope: "agents:write", sharing: "follow_up", body: () => ({ prompt }) } as const;
const inference = { scope: "inference:create", sharing: null } as const;
const anyKey = { scope: null, sharing: null } as const;
const readsEnvironment = { scope: "agents:read", sharing: null, about: "environment" } as const;
const changesEnvironment = { scope: "agents:write", sharing: null, about: "environment" } as const;
const changesTeam = { scope: "agents:write", sharing: null, about: "change of the team" } as const;
const readsAutomation = { scope: "agents:read", sharing: null, about: "automation" } as const;
const changesAutomation = { scope: "agents:write", sharing: null, about: "automation" } as const;
/** There is nothing with these ids. */
const administers = { scope: "admin", sharing: null, status: 404 } as const;
/** There is no repository of that name. */
const readsRepository = { scope: "repositories:read", sharing: null, status: 404 } as const;
const changesPull = { scope: "repositories:write", sharing: null, status: 404 } as const;
const byBrowser = { scope: "agents:write", sharing: null, about: "session" } as const;
const lists = { scope: "agents:read", sharing: null } as const;

const ofAccount = { sharing: null, about: "service account" } as const;
const unknownAgent = "bc-00000000-0000-4000-8000-000000000000";

/** Of workers and pools, whose routes exist twice. */
const fleetRows = ({ workers, pools }: { workers: string; pools: string }): Record<string, Row> => {
  const reads = { ...ofAccount, scope: "agents:read" } as const;
  const changes = { ...ofAccount, scope: "agents:write" } as const;
  const claim = () => ({ id: unknownAgent, workerId: "w1" });
  return {
    [`get ${workers}`]: reads,
    [`get ${workers}/summary`]: reads,
    [`get ${workers}/{workerId}`]: { ...reads, status: 404 },
    [`get ${workers}/pending-requests`]: reads,
    [`get ${workers}/pending-requests/stream`]: { ...reads, status: 400 },
    [`post ${workers}/claim`]: { ...changes, status: 404, body: claim },
    [`post ${workers}/tokens`]: { ...changes, status: 404, body: claim },
    [`post ${workers}/claims/{id}/release`]: { ...changes, status: 404 },
    [`post ${workers}/claims/{id}/fail`]: { ...changes, status: 404, body: () => ({ message: "no machine" }) },
    [`get ${pools}`]: reads,
    [`post ${pools}`]: { ...changes, body: () => ({ scope: "user", poolName: "fast" }) },
    [`delete ${pools}`]: { ...changes, query: "?scope=team&pool_name=none", status: 404 },
  };
};

export const rows: Record<string, Row> = {
  ...fleetRows({ workers: "/v0/private-workers", pools: "/v0/private-workers/pools" }),
  ...fleetRows({ workers: "/v1/workers", pools: "/v1/pools" }),
  "post /v1/sub-tokens": {
    ...{ ...ofAccount, scope: "agents:write", status: 400 },
    body: () => ({ forUserEmail: "stranger@example.com" }),
  },
  "post /v1/agents": { scope: "agents:write", sharing: null, body: () => ({ prompt }) },
  "get /v1/agents": lists,
  "get /v1/agents/{id}": read,
  "get /v1/overview/agents": lists,
  "get /v1/overview/agents/{id}": read,
  "get /v1/overview/workers": lists,
  "get /v1/overview/repositories": { scope: "repositories:read", sharing: null },
  "delete /v1/agents/{id}": manage,
  "post /v1/agents/{id}/archive": manage,
  "post /v1/agents/{id}/unarchive": manage,
  "get /v1/agents/{id}/conversation": read,
  "post /v1/agents/{id}/pull-requests": { ...manage, status: 409 },
  "get /v1/agents/{id}/fork": read,
  "post /v1/agents/{id}/fork": { scope: "agents:write", sharing: "read", body: () => ({ prompt }) },
  "get /v1/agents/{id}/diff": read,
  "get /v1/agents/{id}/usage": read,
  "get /v1/agents/{id}/ports": { scope: "agents:read", sharing: "own" },
  "get /v1/agents/{id}/terminals": { scope: "agents:read", sharing: "own" },
  "get /v1/agents/{id}/terminals/{name}": { scope: "agents:read", sharing: "own", status: 409 },
  "get /v1/agents/{id}/terminals/{name}/screen": { scope: "agents:read", sharing: "own", status: 409 },
  "post /v1/agents/{id}/terminals/{name}/input": {
    ...{ scope: "agents:write", sharing: "own", status: 409 },
    body: () => ({ text: "x" }),
  },
  "get /v1/agents/{id}/artifacts": read,
  "get /v1/agents/{id}/artifacts/download": { ...read, query: "?path=artifacts/left.txt" },
  "get /v1/agents/{id}/webhooks/deliveries": read,
  "post /v1/agents/{id}/webhooks/deliveries/{deliveryId}/redeliver": manage,
  "post /v1/agents/{id}/runs": followUp,
  "get /v1/agents/{id}/runs": read,
  "get /v1/agents/{id}/runs/{runId}": read,
  "get /v1/agents/{id}/runs/{runId}/egress": read,
  "get /v1/agents/{id}/runs/{runId}/stream": read,
  "get /v1/agents/{id}/runs/{runId}/messages": read,
  "post /v1/agents/{id}/runs/{runId}/messages": {
    ...{ ...followUp, state: "at work" },
    body: () => ({ text: "be quick" }),
  },
  "get /v1/agents/{id}/runs/{runId}/subagents": read,
  "get /v1/agents/{id}/runs/{runId}/subagents/{subagentId}": { ...read, status: 404 },
  "post /v1/agents/{id}/runs/{runId}/cancel": { ...manage, state: "at work" },
  "post /v1/environments": {
    scope: "agents:write",
    sharing: null,
    about: "new environment",
    body: () => ({ owner: "personal", name: `environment ${randomUUID()}`, repos: [], environmentJson: "{}" }),
  },
  "get /v1/environments": lists,
  "get /v1/environments/{environmentId}": readsEnvironment,
  "patch /v1/environments/{environmentId}": { ...changesEnvironment, body: () => ({ buildIntervalHours: 1 }) },
  "delete /v1/environments/{environmentId}": changesEnvironment,
  "get /v1/environments/{environmentId}/history": readsEnvironment,
  "post /v1/environments/{environmentId}/builds": { ...changesEnvironment, body: () => ({}) },
  "get /v1/environments/{environmentId}/builds": readsEnvironment,
  "get /v1/environments/{environmentId}/builds/active": readsEnvironment,
  "get /v1/environments/{environmentId}/builds/{buildId}": readsEnvironment,
  "get /v1/environments/{environmentId}/builds/{buildId}/logs": readsEnvironment,
  "get /v1/environments/{environmentId}/builds/{buildId}/diff": {
    ...readsEnvironment,
    query: "?from=bld-none",
    status: 404,
  },
  "post /v1/environments/{environmentId}/builds/{buildId}/activate": changesEnvironment,
  "post /v1/environments/{environmentId}/builds/{buildId}/discard": changesEnvironment,
  "post /v1/environments/{environmentId}/builds/{buildId}/cancel": changesEnvironment,
  "post /v1/automations": {
    scope: "agents:write",
    sharing: null,
    about: "new automation",
    body: () => ({ name: `automation ${randomUUID()}`, prompt, triggers: [{ type: "webhook" }] }),
  },
  "get /v1/automations": lists,
  "get /v1/automations/{automationId}": readsAutomation,
  "patch /v1/automations/{automationId}": { ...changesAutomation, body: () => ({ missed: "skip" }) },
  "delete /v1/automations/{automationId}": changesAutomation,
  "post /v1/automations/{automationId}/enable": changesAutomation,
  "post /v1/automations/{automationId}/disable": changesAutomation,
  "post /v1/automations/{automationId}/run": changesAutomation,
  "get /v1/automations/{automationId}/firings": readsAutomation,
  "get /v1/automations/{automationId}/alerts": readsAutomation,
  "post /v1/automations/{automationId}/webhook-keys": { ...changesAutomation, body: () => ({}) },
  "delete /v1/automations/{automationId}/webhook-keys/{keyId}": changesAutomation,
  "post /v1/automations/{automationId}/dry-run": { ...changesAutomation, body: () => ({}) },
  "post /v1/automations/{automationId}/backtests": { ...changesAutomation, body: () => ({}) },
  "get /v1/automations/{automationId}/backtests/{backtestId}": { ...readsAutomation, status: 404 },
  "get /v1/automations/{automationId}/firings/{firingId}/proposals": { ...readsAutomation, status: 404 },
  "get /v1/automations/{automationId}/memories": readsAutomation,
  "get /v1/automations/{automationId}/memories/{name}": { ...readsAutomation, status: 404 },
  "put /v1/automations/{automationId}/memories/{name}": { ...changesAutomation, body: () => ({ text: "x" }) },
  "delete /v1/automations/{automationId}/memories/{name}": { ...changesAutomation, status: 404 },
  "get /v1/automations/{automationId}/memories/{name}/history": readsAutomation,
  "post /v1/agents/{id}/subscriptions": {
    ...{ scope: "agents:write", sharing: "follow_up" },
    body: () => ({ filter: { source: "timer", delaySeconds: 86_400 } }),
  },
  "get /v1/agents/{id}/subscriptions": read,
  "delete /v1/agents/{id}/subscriptions/{subscriptionId}": {
    ...{ scope: "agents:write", sharing: "follow_up", status: 404 },
  },
  "post /v1/event-sources": { ...changesTeam, body: () => ({ type: "github", name: "acme" }) },
  "get /v1/event-sources": lists,
  "get /v1/mentions": lists,
  "delete /v1/event-sources/{sourceId}": { ...changesTeam, status: 404 },
  "get /v1/usage": lists,
  "get /v1/audit": { scope: "admin", sharing: null },
  "get /v1/status": { scope: "admin", sharing: null },
  "get /v1/members": anyKey,
  "patch /v1/members/{memberId}": { ...administers, body: () => ({ role: "member" }) },
  "delete /v1/members/{memberId}": administers,
  "delete /v1/members/{memberId}/sessions": administers,
  "post /v1/members/{memberId}/login-link": administers,
  "get /v1/invitations": { scope: "admin", sharing: null },
  "post /v1/invitations": {
    ...{ scope: "admin", sharing: null, about: "session" },
    body: () => ({ email: `${randomUUID()}@example.com`, role: "member" }),
  },
  "delete /v1/invitations/{invitationId}": administers,
  "get /v1/keys": anyKey,
  "post /v1/keys": { ...byBrowser, body: () => ({ name: "made here" }) },
  "post /v1/keys/{keyId}/rotate": { ...byBrowser, status: 404, body: () => ({}) },
  "delete /v1/keys/{keyId}": { scope: "agents:write", sharing: null, status: 404 },
  "get /v1/service-accounts": { scope: "admin", sharing: null },
  "post /v1/service-accounts": { scope: "admin", sharing: null, body: () => ({ name: `account ${randomUUID()}` }) },
  "get /v1/team/settings": anyKey,
  "patch /v1/team/settings": { scope: "admin", sharing: null, body: () => ({}) },
  "get /v1/team/credentials": { scope: "admin", sharing: null },
  "put /v1/team/credentials": {
    scope: "admin",
    sharing: null,
    body: () => ({ host: "git.example.com", kind: "token", value: "t" }),
  },
  "delete /v1/team/credentials": { scope: "admin", sharing: null, query: "?host=git.example.com&kind=token" },
  "get /v1/secrets": lists,
  "get /v1/team/secrets": lists,
  "put /v1/team/secrets/{name}": { ...changesTeam, body: () => ({ value: "v" }) },
  "delete /v1/team/secrets/{name}": changesTeam,
  "get /v1/me/secrets": { ...lists, about: "own" },
  "put /v1/me/secrets/{name}": { scope: "agents:write", sharing: null, about: "own", body: () => ({ value: "v" }) },
  "delete /v1/me/secrets/{name}": { scope: "agents:write", sharing: null, about: "own" },
  "get /v1/environments/{environmentId}/secrets": readsEnvironment,
  "put /v1/environments/{environmentId}/secrets/{name}": { ...changesEnvironment, body: () => ({ value: "v" }) },
  "delete /v1/environments/{environmentId}/secrets/{name}": changesEnvironment,
  "get /v1/me/accounts": { ...lists, about: "own" },
  "delete /v1/me/accounts/{host}": { scope: "agents:write", sharing: null, about: "own", status: 404 },
  "get /v1/me/inbox": { ...lists, about: "own" },
  "patch /v1/me/inbox": {
    ...{ scope: "agents:write", sharing: null, about: "own", status: 404 },
    body: () => ({ items: [`run-${randomUUID()}`], state: "read" }),
  },
  "get /v1/me/push": { ...byBrowser, scope: "agents:read" },
  "put /v1/me/push": {
    ...byBrowser,
    body: () => ({
      endpoint: "https://push.example.com/send/one",
      keys: { p256dh: `B${"A".repeat(86)}`, auth: "A".repeat(22) },
    }),
  },
  "delete /v1/me/push": byBrowser,
  "get /v1/me/sessions": { ...lists, about: "own" },
  "delete /v1/me/sessions/{sessionId}": { ...byBrowser, status: 404 },
  "get /v1/me/settings": anyKey,
  "patch /v1/me/settings": { scope: "agents:write", sharing: null, body: () => ({}) },
  "get /v1/me": anyKey,
  "get /v1/models": anyKey,
  "post /v1/repositories": {
    ...{ scope: "repositories:write", sharing: null },
    body: () => ({ name: `made-${randomUUID()}` }),
  },
  "get /v1/repositories": { scope: "repositories:read", sharing: null },
  "get /v1/repositories/{name}": readsRepository,
  "get /v1/repositories/{name}/contents": readsRepository,
  "get /v1/repositories/{name}/commits": readsRepository,
  "get /v1/repositories/{name}/commits/{commit}": readsRepository,
  "get /v1/repositories/{name}/pulls": readsRepository,
  "get /v1/repositories/{name}/pulls/{number}": readsRepository,
  "get /v1/repositories/{name}/pulls/{number}/diff": readsRepository,
  "patch /v1/repositories/{name}/pulls/{number}": { ...changesPull, body: () => ({ draft: false }) },
  "post /v1/repositories/{name}/pulls/{number}/merge": changesPull,
  "post /v1/repositories/{name}/pulls/{number}/comments": { ...changesPull, body: () => ({ body: "Why?" }) },
  "post /v1/repositories/{name}/pulls/{number}/reviews": { ...changesPull, body: () => ({ verdict: "approved" }) },
  "post /v1/inference/responses": { ...inference, body: () => ({ input: "be quick" }) },
  "get /v1/inference/usage": inference,
  "post /v0/agents": {
    scope: "agents:write",
    sharing: null,
    body: ({ repository }) => ({ prompt, source: { repository } }),
  },
  "get /v0/agents": lists,
  "get /v0/agents/{id}": read,
  "delete /v0/agents/{id}": manage,
  "get /v0/agents/{id}/conversation": read,
  "post /v0/agents/{id}/followup": followUp,
  "post /v0/agents/{id}/stop": { ...manage, state: "at work" },
  "get /v0/agents/{id}/artifacts": read,
  "get /v0/agents/{id}/artifacts/download": { ...read, query: "?path=/opt/platform/artifacts/left.txt" },
  "get /v0/me": anyKey,
  "get /v0/models": anyKey,
  "get /v0/repositories": { scope: "repositories:read", sharing: null },
};

/** What the server knows of the sender of a request. */
export interface Sender {
  /** Relation to the requested agent; null where authentication fails. */
  is: "owner" | "teammate" | "admin" | "of another team" | null;
  scopes: readonly Scope[];
  /** Whether another site could make a browser send it. */
  isForgeable?: true;
  isAccount?: true;
  isSession?: true;
}

export type Expected = 401 | 403 | 404 | "done";

/** Team follow-ups are off, which is the default. */
const shared: Record<"owner" | "teammate" | "admin", NonNullable<Row["sharing"]>[]> = {
  owner: ["read", "follow_up", "manage", "own"],
  admin: ["read", "manage"],
  teammate: ["read"],
};

export function expected(method: string, { scope, sharing, about }: Row, sender: Sender): Expected {
  const { is, scopes, isForgeable, isAccount, isSession } = sender;
  if (is === null) return 401;
  if (isForgeable && method !== "get") return 403;
  if (scope !== null && !scopes.includes(scope)) return 403;
  if (about === "environment" || about === "automation") return is === "owner" && !isAccount ? "done" : 404;
  // A service account has none of its own.
  if ((about === "new environment" || about === "new automation") && isAccount) return 403;
  if (about === "own" && isAccount) return 403;
  if (about === "service account" && !isAccount) return 403;
  if (about === "session" && !isSession) return 403;
  // Administrators with the scope admin, and service accounts.
  if (about === "change of the team" && !isAccount && !scopes.includes("admin")) return 403;
  if (sharing === null) return "done";
  if (is === "of another team") return 404;
  return shared[is].includes(sharing) ? "done" : 403;
}
