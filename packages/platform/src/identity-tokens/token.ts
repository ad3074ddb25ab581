// An identity token: its claims, and its signature. Pure.
import { sign } from "node:crypto";
import type { SigningKey } from "./keys.ts";

/** What is known of the agent that a token is for. */
export interface AgentFacts {
  agentId: string;
  runtime: "managed" | "self_hosted";
  teamId: number;
  userId: number | null;
  userEmail: string | null;
  serviceAccountId: string | null;
  source: string;
  /** `host/path`. */
  repositories: string[];
  branchName: string | undefined;
  automationId: string | null;
  environmentId: string | null;
  /** The active run; null: none. */
  run: ActiveRunFacts | null;
}

export interface ActiveRunFacts {
  id: string;
  startedAt: Date | null;
  model: string | null;
  /** Of the one who asked for it. */
  userId: number | null;
  userEmail: string | null;
}

export interface TokenOptions {
  issuer: string;
  audience: string;
  nonce: string | undefined;
  subject: "owner" | "team_id";
  /** Of the token. */
  id: string;
  now: Date;
}

export const lifetimeSeconds = 300;
/** Verifiers' clocks may be behind. */
const leewaySeconds = 5;

export function claimsOf(facts: AgentFacts, options: TokenOptions): Record<string, unknown> {
  const issuedAt = Math.floor(options.now.getTime() / 1_000);
  const { run, repositories, userId } = facts;
  return {
    iss: options.issuer,
    sub: subjectOf(facts, options),
    aud: options.audience,
    iat: issuedAt,
    nbf: issuedAt - leewaySeconds,
    exp: issuedAt + lifetimeSeconds,
    jti: options.id,
    cloud_agent_id: facts.agentId,
    agent_runtime: facts.runtime,
    ...known({
      nonce: options.nonce,
      owner_email: facts.userEmail,
      owner_user_id: userId === null ? null : String(userId),
      owner_service_account_id: facts.serviceAccountId,
      team_id: String(facts.teamId),
      turn_id: run?.id,
      turn_start: run?.startedAt?.toISOString(),
      repo_url: repositories[0],
      repo_urls: repositories.length > 0 ? repositories : null,
      repo_count: repositories.length,
      branch_name: facts.branchName,
      environment_id: facts.environmentId,
      source: facts.source,
      automation_id: facts.automationId,
    }),
  };
}

function subjectOf({ teamId, userId, serviceAccountId }: AgentFacts, { subject }: TokenOptions): string {
  if (subject === "team_id") return `team_id:${teamId}`;
  return userId === null ? `service_account:${serviceAccountId}` : `user:${userId}`;
}

const known = (claims: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null && value !== undefined));

export function signToken(claims: object, { kid, key }: SigningKey): string {
  const text = [{ alg: "RS256", typ: "JWT", kid }, claims].map(encode).join(".");
  return `${text}.${sign("RSA-SHA256", Buffer.from(text), key).toString("base64url")}`;
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
