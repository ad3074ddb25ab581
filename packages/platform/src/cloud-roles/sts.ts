// Asks the security token service of AWS (STS) for credentials of a role.
import { setTimeout as pause } from "node:timers/promises";
import { AwsClient } from "aws4fetch";
import { type CloudRoleSettings, readXmlText } from "../foundation/index.ts";

/** What the platform proves itself with. */
export type Proof = { kind: "credentials"; externalId: string } | { kind: "token"; token: string };

export interface RoleRequest {
  roleArn: string;
  /** Shown in the logs of AWS. */
  sessionName: string;
  proof: Proof;
}

export interface RoleCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
  expiresAt: Date;
}

export type StsAnswer =
  | { kind: "given"; credentials: RoleCredentials }
  | { kind: "refused"; code: string; message: string }
  | { kind: "unreachable"; message: string };

export interface StsHost {
  settings: CloudRoleSettings;
  variables: NodeJS.ProcessEnv;
}

const lifetimeSeconds = 3_600;
const timeoutMs = 5_000;
/** Before the second attempt, and the third. */
const pausesMs = [200, 1_000];

/** Attempts until there is an answer that another attempt would not change. */
export async function askSts(host: StsHost, request: RoleRequest): Promise<StsAnswer> {
  for (let count = 0; ; count += 1) {
    const answer = await attempt(host, request);
    const pauseMs = pausesMs[count];
    if (pauseMs === undefined || !mayChange(answer)) return answer;
    await pause(pauseMs);
  }
}

/** Of a token, AWS says so where it could not read the keys of its issuer in time. */
const passing = new Set(["Throttling", "RequestLimitExceeded", "InternalFailure", "IDPCommunicationError"]);

const mayChange = (answer: StsAnswer): boolean =>
  answer.kind === "unreachable" || (answer.kind === "refused" && passing.has(answer.code));

async function attempt({ settings, variables }: StsHost, request: RoleRequest): Promise<StsAnswer> {
  const body = formOf(request).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
  const sent = { method: "POST", headers, body, signal: AbortSignal.timeout(timeoutMs) };
  try {
    // The service adds no body of its own to a redirect: it answers at its address or not at all.
    const response =
      request.proof.kind === "token"
        ? await fetch(`${settings.endpoint}/`, { ...sent, redirect: "error" })
        : await signerOf(settings, variables).fetch(`${settings.endpoint}/`, { ...sent, redirect: "error" });
    return readAnswer(response.status, await response.text());
  } catch (error) {
    const { message, cause } = error as Error;
    return { kind: "unreachable", message: cause instanceof Error && cause.message !== "" ? cause.message : message };
  }
}

function formOf({ roleArn, sessionName, proof }: RoleRequest): URLSearchParams {
  const shared = { Version: "2011-06-15", RoleArn: roleArn, RoleSessionName: sessionName };
  const duration = { DurationSeconds: String(lifetimeSeconds) };
  return proof.kind === "credentials"
    ? new URLSearchParams({ Action: "AssumeRole", ...shared, ...duration, ExternalId: proof.externalId })
    : new URLSearchParams({
        Action: "AssumeRoleWithWebIdentity",
        ...shared,
        ...duration,
        WebIdentityToken: proof.token,
      });
}

function signerOf({ credentials, region }: CloudRoleSettings, variables: NodeJS.ProcessEnv): AwsClient {
  const read = (name = "") => variables[name] ?? "";
  const sessionToken = read(credentials?.sessionTokenVariable);
  return new AwsClient({
    ...{ accessKeyId: read(credentials?.accessKeyVariable), secretAccessKey: read(credentials?.secretKeyVariable) },
    ...(sessionToken !== "" && { sessionToken }),
    ...{ service: "sts", region, retries: 0 },
  });
}

function readAnswer(status: number, text: string): StsAnswer {
  const [accessKeyId, secretAccessKey, sessionToken, expiration] = [
    ...["AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"],
  ].map((name) => readXmlText(text, name));
  const expiresAt = new Date(expiration ?? Number.NaN);
  if (status === 200 && accessKeyId && secretAccessKey && sessionToken && !Number.isNaN(expiresAt.getTime()))
    return { kind: "given", credentials: { accessKeyId, secretAccessKey, sessionToken, expiresAt } };
  const code = readXmlText(text, "Code");
  if (code === null || status === 200 || status >= 500)
    return {
      kind: "unreachable",
      message: `status ${status}${code === null ? ", not from STS" : ` ${code}`}`,
    };
  return { kind: "refused", code, message: (readXmlText(text, "Message") ?? "").slice(0, 500) };
}
