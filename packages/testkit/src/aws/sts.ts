// A scripted AWS STS: it checks signatures by computing them again, and identity tokens (OIDC) against what their issuer publishes.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { type AwsKeys, signatureError } from "./signature.ts";

/** The trust policy of a role: who may assume it. */
export type StsRole =
  /** Null: whatever the external id. */
  | { trusts: "credentials"; externalId: string | null }
  | { trusts: "token"; issuer: string; audience: string; subject: string };

export interface FakeSts extends AwsKeys {
  endpoint: string;
  /** By ARN. */
  roles: Map<string, StsRole>;
  /** Every request, in the order in which they came. */
  requests: Record<string, string>[];
  /** What was given out, newest last. */
  sessions: StsSession[];
  /** Of the credentials from now on. */
  setLifetime(seconds: number): void;
  /** Once so many credentials were given out, requests get this error. */
  failAfter(sessions: number, code: string): void;
  close(): Promise<void>;
}

export interface StsSession {
  arn: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
}

interface State extends Pick<FakeSts, "roles" | "requests" | "sessions"> {
  keys: AwsKeys;
  lifetimeSeconds: number | null;
  failing: { sessions: number; code: string };
}

export async function startFakeSts(): Promise<FakeSts> {
  const keys: AwsKeys = { accessKeyId: "AKIASTS", secretAccessKey: "sts secret/+", region: "eu-test-1" };
  const failing = { sessions: Number.POSITIVE_INFINITY, code: "" };
  const state: State = { keys, roles: new Map(), requests: [], sessions: [], lifetimeSeconds: null, failing };
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    await answer({ request, response, body: Buffer.concat(pieces) }, state);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    ...keys,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    roles: state.roles,
    requests: state.requests,
    sessions: state.sessions,
    setLifetime(seconds) {
      state.lifetimeSeconds = seconds;
    },
    failAfter: (sessions, code) => void Object.assign(failing, { sessions, code }),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  body: Buffer;
}

async function answer(exchange: Exchange, state: State): Promise<ServerResponse> {
  const { request, response, body } = exchange;
  const asked = Object.fromEntries(new URLSearchParams(body.toString()));
  state.requests.push(asked);
  const { failing } = state;
  if (state.sessions.length >= failing.sessions) return fail(response, failing.code, `${failing.code} was answered`);
  const isForm = /^application\/x-www-form-urlencoded/.test(request.headers["content-type"] ?? "");
  if (request.method !== "POST" || !isForm || asked.Version !== "2011-06-15")
    return fail(response, "InvalidAction", "Could not find operation");
  switch (asked.Action) {
    case "AssumeRole":
      return assumeRole(exchange, asked, state);
    case "AssumeRoleWithWebIdentity":
      return assumeWithToken(exchange, asked, state);
    case "GetCallerIdentity":
      return answerCaller(exchange, state);
    default:
      return fail(response, "InvalidAction", `Could not find operation ${asked.Action}`);
  }
}

type Asked = Record<string, string>;

function assumeRole(exchange: Exchange, asked: Asked, state: State): ServerResponse {
  const { response } = exchange;
  const wrong = signatureError(exchange, state.keys, "sts");
  if (wrong !== null) return fail(response, signatureErrors[wrong] ?? wrong, "The request signature is wrong");
  const role = state.roles.get(asked.RoleArn ?? "");
  if (role?.trusts !== "credentials" || (role.externalId !== null && role.externalId !== asked.ExternalId)) {
    const message = `User: arn:aws:iam::999988887777:user/platform is not authorized to perform: sts:AssumeRole on resource: ${asked.RoleArn}`;
    return fail(response, "AccessDenied", message);
  }
  return give(response, asked, state);
}

/** As STS names what S3 calls otherwise. */
const signatureErrors: Record<string, string> = { InvalidAccessKeyId: "InvalidClientTokenId" };

async function assumeWithToken({ request, response }: Exchange, asked: Asked, state: State): Promise<ServerResponse> {
  if (request.headers.authorization !== undefined)
    return fail(response, "InvalidAction", "This operation takes no signature");
  const role = state.roles.get(asked.RoleArn ?? "");
  if (role?.trusts !== "token")
    return fail(response, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity");
  const found = await verify(asked.WebIdentityToken ?? "", role.issuer).catch((error: Error) => error);
  if (found instanceof Error) return fail(response, "InvalidIdentityToken", found.message);
  if (found.aud !== role.audience) return fail(response, "InvalidIdentityToken", "Incorrect token audience");
  if (found.sub !== role.subject)
    return fail(response, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity");
  return give(response, asked, state);
}

/** By the discovery document and the keys that the issuer serves. */
async function verify(token: string, issuer: string) {
  const served = await fetch(`${issuer}/.well-known/openid-configuration`);
  const discovery = (await served.json()) as { issuer: string; jwks_uri: string };
  const keys = createRemoteJWKSet(new URL(discovery.jwks_uri));
  return (await jwtVerify(token, keys, { issuer: discovery.issuer, algorithms: ["RS256"] })).payload;
}

function give(response: ServerResponse, asked: Asked, state: State): ServerResponse {
  const { Action = "", RoleArn = "", RoleSessionName = "", DurationSeconds = "3600" } = asked;
  if (!/^[\w+=,.@-]{2,64}$/.test(RoleSessionName))
    return fail(response, "ValidationError", "roleSessionName failed to satisfy constraint");
  if (!(Number(DurationSeconds) >= 900 && Number(DurationSeconds) <= 3_600))
    return fail(response, "ValidationError", "The requested DurationSeconds exceeds the MaxSessionDuration");
  const session: StsSession = {
    arn: `${RoleArn.replace(":iam:", ":sts:").replace(":role/", ":assumed-role/")}/${RoleSessionName}`,
    accessKeyId: `ASIA${randomBytes(8).toString("hex").toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString("base64"),
    sessionToken: `${randomBytes(90).toString("base64")}=`,
  };
  state.sessions.push(session);
  const expires = new Date(Date.now() + (state.lifetimeSeconds ?? Number(DurationSeconds)) * 1_000);
  const { accessKeyId, secretAccessKey, sessionToken } = session;
  const given = { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken };
  const credentials = tag("Credentials", tags({ ...given, Expiration: expires.toISOString().replace(/\.\d+/, "") }));
  return send(response, 200, result(Action, credentials + tag("AssumedRoleUser", tag("Arn", escaped(session.arn)))));
}

/** For callers with credentials that were given out here. */
function answerCaller(exchange: Exchange, { sessions, keys: { region } }: State): ServerResponse {
  const caller = sessions.find((session) => signatureError(exchange, { ...session, region }, "sts") === null);
  if (caller === undefined)
    return fail(exchange.response, "InvalidClientTokenId", "The security token included in the request is invalid");
  return send(exchange.response, 200, result("GetCallerIdentity", tags({ Arn: caller.arn })));
}

const namespace = "https://sts.amazonaws.com/doc/2011-06-15/";

const result = (action: string, content: string): string =>
  `<${action}Response xmlns="${namespace}">\n${tag(`${action}Result`, content)}${tag("ResponseMetadata", tags({ RequestId: "1" }))}</${action}Response>`;

const statuses: Record<string, number> = { InternalFailure: 500 };
const forbidden = ["AccessDenied", "SignatureDoesNotMatch", "InvalidClientTokenId"];
const statusOf = (code: string): number => statuses[code] ?? (forbidden.includes(code) ? 403 : 400);

function fail(response: ServerResponse, code: string, message: string): ServerResponse {
  const error = tag("Error", tags({ Type: "Sender", Code: code, Message: message }));
  return send(
    response,
    statusOf(code),
    `<ErrorResponse xmlns="${namespace}">\n${error}${tags({ RequestId: "1" })}</ErrorResponse>`,
  );
}

const send = (response: ServerResponse, status: number, text: string): ServerResponse =>
  response.writeHead(status, { "content-type": "text/xml" }).end(`${text}\n`);

const tag = (name: string, content: string): string => `<${name}>${content}</${name}>\n`;
const tags = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([name, value]) => tag(name, escaped(value)))
    .join("");

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
