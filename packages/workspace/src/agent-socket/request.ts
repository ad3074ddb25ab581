// What a command may ask of the socket of its agent, and which of it is refused. Pure.
import type { SocketReply, TokenRequest } from "./types.ts";

export interface Asked {
  method: string;
  url: string;
  type: string;
  hasMetadata: boolean;
  hasAwsCredentials: boolean;
}

export type Routed =
  | { kind: "token" }
  | { kind: "aws-credentials" }
  | { kind: "metadata"; path: string }
  | { kind: "refused"; reply: SocketReply };

const tokenPath = "/v1/tokens/oidc";
const metadataPath = "/v1/meta-data";
const tokenUsage = `POST ${tokenPath} with {"aud": "…", "nonce"?: "…", "sub_claim"?: "team_id"} as application/json.`;
const awsCredentialsPath = "/v1/credentials/aws";
const awsCredentialsUsage = `GET ${awsCredentialsPath} for credentials of the cloud role.`;
const metadataUsage = `GET ${metadataPath} for the keys, GET ${metadataPath}/agent/id for a value.`;
const maxLength = 512;

export function route({ method, url, type, hasMetadata, hasAwsCredentials }: Asked): Routed {
  const [path = ""] = url.split("?");
  const usage = [
    tokenUsage,
    ...(hasMetadata ? [metadataUsage] : []),
    ...(hasAwsCredentials ? [awsCredentialsUsage] : []),
  ].join(" ");
  const notAllowed = (allow: string): Routed => ({
    kind: "refused",
    reply: { status: 405, body: { error: "method_not_allowed", usage }, headers: { allow } },
  });
  if (path === tokenPath) {
    if (method !== "POST") return notAllowed("POST");
    if (/^application\/json\s*(;|$)/i.test(type)) return { kind: "token" };
    return { kind: "refused", reply: { status: 415, body: { error: "invalid_content_type" } } };
  }
  if (hasMetadata && (path === metadataPath || path.startsWith(`${metadataPath}/`)))
    return method === "GET" ? { kind: "metadata", path: path.slice(metadataPath.length) } : notAllowed("GET");
  if (hasAwsCredentials && path === awsCredentialsPath)
    return method === "GET" ? { kind: "aws-credentials" } : notAllowed("GET");
  return { kind: "refused", reply: { status: 404, body: { error: "not_found", usage } } };
}

/** Members that are not known are left out. */
export function readTokenRequest(text: string): TokenRequest | { error: string } {
  const body = parse(text);
  if (body === null) return { error: "invalid_json" };
  const { aud, nonce, sub_claim } = body;
  if (typeof aud !== "string" || !/^[ -~]+$/.test(aud) || aud.length > maxLength) return { error: "invalid_aud" };
  if (nonce !== undefined && (typeof nonce !== "string" || nonce.length > maxLength)) return { error: "invalid_nonce" };
  if (sub_claim !== undefined && sub_claim !== "team_id") return { error: "invalid_sub_claim" };
  return { aud, ...(nonce !== undefined && { nonce }), ...(sub_claim !== undefined && { subClaim: sub_claim }) };
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** A key is answered with its bare value, a prefix with what is below it: sorted, one for each line, prefixes with `/`. */
export function readMetadata(values: Map<string, string>, path: string): SocketReply {
  const wanted = path.replace(/^\/|\/$/g, "");
  const value = values.get(wanted);
  if (value !== undefined) return { status: 200, body: value };
  const prefix = wanted === "" ? "" : `${wanted}/`;
  const below = [...values.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
  if (below.length === 0) return { status: 404, body: { error: "not_found", usage: metadataUsage } };
  const children = new Set(below.map((key) => key.replace(/\/.*/, "/")));
  return { status: 200, body: `${[...children].sort().join("\n")}\n` };
}
