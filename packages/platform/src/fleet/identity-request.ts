// A worker asks for an identity token for an agent that it serves.
import type { IdentityAnswer, IdentityRequest } from "@agentcli/protocol/worker-link";
import type { Answer, LinkRequest } from "@agentcli/workspace";
import type { Kysely } from "kysely";
import type { Tables } from "../foundation/index.ts";
import type { AgentFacts } from "../identity-tokens/index.ts";
import { readFactsOnWorker } from "./identity-facts.ts";

export type MintIdentity = (facts: AgentFacts, request: Omit<IdentityRequest, "agent">) => Promise<IdentityAnswer>;

interface AskingWorker {
  teamId: number;
  workerId: string;
  /** Whether its key may still be used. */
  isAllowed(): Promise<boolean>;
}

/** Throws an error with a code that the worker knows. */
export async function answerIdentity(
  { teamId, workerId, isAllowed }: AskingWorker,
  { request, answer }: { request: LinkRequest; answer: Answer },
  { db, mintIdentity }: { db: Kysely<Tables>; mintIdentity: MintIdentity },
): Promise<void> {
  const { IdentityRequest: schema } = await import("@agentcli/protocol/worker-link");
  const parsed = schema.safeParse(request.body);
  if (!parsed.success) throw refusal("invalid", "The request for an identity token is not valid.");
  const { agent, ...wanted } = parsed.data;
  const facts = (await isAllowed()) ? await readFactsOnWorker(db, { teamId, workerId, directory: agent }) : undefined;
  if (facts === undefined) throw refusal("not_served", "This worker has no run of the agent.");
  answer(await mintIdentity(facts, wanted));
  request.stream.end();
}

const refusal = (code: string, message: string): Error => Object.assign(new Error(message), { code });
