// Gets credentials of the role of an agent, keeps them in memory while they last, and gets others before they expire.
import type { SocketReply } from "@agentcli/workspace";
import { recordAuditEvent, type ServerContext } from "../foundation/index.ts";
import { type IdentityTokens, readFacts } from "../identity-tokens/index.ts";
import { explain, openToAll } from "./explain.ts";
import { externalIdOf } from "./role.ts";
import { askSts, type Proof, type RoleCredentials, type RoleRequest, type StsAnswer, type StsHost } from "./sts.ts";

export interface RoleOfRun {
  agentId: string;
  runId: string;
  teamId: number;
  environmentId: string | null;
  roleArn: string;
  /** Before the credentials are given to anyone: from then on they are recognized wherever the run shows them. */
  recognize(secret: { name: string; value: string }): Promise<void>;
}

export interface CloudRoles {
  /** Answers as a `credential_process` of the AWS tools does; for the time of one run. */
  forRun(role: RoleOfRun): () => Promise<SocketReply>;
}

/** Tools ask again when their credentials are about to expire: what is given lasts longer than that. */
const renewedBeforeMs = 15 * 60_000;
/** After a refusal, that answer is given for so long. */
const refusalLastsMs = 5_000;

type Kept = { kind: "given"; credentials: RoleCredentials } | { kind: "refused"; reply: SocketReply; until: number };

export function openCloudRoles(context: ServerContext, { mint }: Pick<IdentityTokens, "mint">): CloudRoles {
  return {
    forRun(role) {
      let kept: Kept | null = null;
      let asking: Promise<Kept> | null = null;
      return async () => {
        if (kept?.kind === "refused" && kept.until > performance.now()) return kept.reply;
        if (kept?.kind === "given" && lastsMs(kept.credentials, context) > renewedBeforeMs) return replyOf(kept);
        const former = kept;
        // Programs that ask at once get the same.
        asking ??= obtain(context, role, mint).finally(() => {
          asking = null;
        });
        const obtained = await asking;
        kept =
          obtained.kind === "refused" && former?.kind === "given" && lastsMs(former.credentials, context) > 0
            ? former
            : obtained;
        return replyOf(kept);
      };
    },
  };
}

const lastsMs = ({ expiresAt }: RoleCredentials, { now }: Pick<ServerContext, "now">): number =>
  expiresAt.getTime() - now().getTime();

function replyOf(kept: Kept): SocketReply {
  if (kept.kind === "refused") return kept.reply;
  const { accessKeyId, secretAccessKey, sessionToken, expiresAt } = kept.credentials;
  return {
    status: 200,
    body: {
      ...{ Version: 1, AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken },
      Expiration: expiresAt.toISOString(),
    },
  };
}

async function obtain(context: ServerContext, role: RoleOfRun, mint: IdentityTokens["mint"]): Promise<Kept> {
  const { settings, log, publicUrl, db } = context;
  const { roleArn, agentId, runId, teamId } = role;
  const proof = await proofOf(context, role, mint).catch(toRateLimited);
  if (proof.kind === "rate-limited") return refusal(429, "rate_limited", proof.message);
  const host = { settings: settings.cloudRoles, variables: settings.variables };
  const request = { roleArn, sessionName: agentId, proof };
  const answer = await askAsTeamAlone(host, request);
  if (answer.kind !== "given") {
    log.warn("cloud_role.refused", { agentId, runId, cause: answer.kind === "refused" ? answer.code : "unreachable" });
    const facts = { roleArn, teamId, issuer: publicUrl(), settings: settings.cloudRoles };
    return refusal(...statusOf(answer), explain(answer, facts));
  }
  const { accessKeyId, secretAccessKey, sessionToken, expiresAt } = answer.credentials;
  await role.recognize({
    name: "credentials of the cloud role",
    value: JSON.stringify({ secretAccessKey, sessionToken }),
  });
  // The id of the key, which the logs of AWS have too, opens nothing.
  const data = { team_id: teamId, run_id: runId, access_key_id: accessKeyId, expires_at: expiresAt.toISOString() };
  await recordAuditEvent(db, { action: "cloud_role.assumed", subject: agentId, data });
  return answer;
}

/**
 * The operator's credentials may be let in without a look at the team, above all to roles of the operator's own account: then
 * any team could have the role. So it is also asked for as a team that there is not.
 */
async function askAsTeamAlone(host: StsHost, request: RoleRequest): Promise<StsAnswer> {
  const answer = await askSts(host, request);
  if (answer.kind !== "given" || request.proof.kind !== "credentials") return answer;
  const asNoTeam = await askSts(host, { ...request, proof: { kind: "credentials", externalId: externalIdOf(noTeam) } });
  if (asNoTeam.kind === "given") return { kind: "refused", code: openToAll, message: "" };
  return asNoTeam.kind === "refused" && asNoTeam.code === "AccessDenied" ? answer : asNoTeam;
}

/** Teams are numbered from 1. */
const noTeam = 0;

const statusOf = ({ kind }: StsAnswer): [number, string] =>
  kind === "refused" ? [403, "role_refused"] : [502, "backend_unreachable"];

function toRateLimited(error: Error & { code?: string }): { kind: "rate-limited"; message: string } {
  if (error.code !== "rate_limited") throw error;
  return { kind: "rate-limited", message: `The agent has asked for too many identity tokens. ${error.message}` };
}

async function proofOf(
  { db, settings: { cloudRoles } }: ServerContext,
  role: RoleOfRun,
  mint: IdentityTokens["mint"],
): Promise<Proof> {
  const { agentId, teamId, environmentId } = role;
  if (cloudRoles.credentials !== null) return { kind: "credentials", externalId: externalIdOf(teamId) };
  const facts = await readFacts(db, agentId, { runtime: "managed", environmentId });
  if (facts === undefined) throw new Error(`the agent ${agentId} has no active run`);
  // Trust policies can look at the subject and the audience alone: the team is the subject.
  const { token } = await mint(facts, { aud: cloudRoles.audience, subClaim: "team_id" });
  return { kind: "token", token };
}

const refusal = (status: number, error: string, message: string): Kept => ({
  kind: "refused",
  reply: { status, body: { error, message } },
  until: performance.now() + refusalLastsMs,
});
