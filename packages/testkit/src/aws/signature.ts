// Checks the signature (version 4) of a request to AWS by computing it again from the request itself.
import { createHash, createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";

export interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
  /** Of temporary credentials. */
  sessionToken?: string;
}

/** The code of the error that S3 answers with; null if the signature is right. */
export function signatureError(
  { request, body }: { request: IncomingMessage; body: Buffer },
  keys: AwsKeys,
  expectedService: string,
): string | null {
  const url = new URL(request.url ?? "/", "http://host");
  const signed = readHeader(request) ?? readQuery(url);
  if (signed === null) return "AccessDenied";
  const [accessKeyId, date, region, service] = signed.scope;
  if (accessKeyId !== keys.accessKeyId) return "InvalidAccessKeyId";
  if (region !== keys.region || service !== expectedService) return "AuthorizationHeaderMalformed";
  if (signed.expiresAt < Date.now()) return "AccessDenied";
  if (keys.sessionToken !== undefined && request.headers["x-amz-security-token"] !== keys.sessionToken)
    return "InvalidToken";
  const named = request.headers["x-amz-content-sha256"];
  // S3 alone wants the digest in a header.
  const digest = signed.isQuery ? "UNSIGNED-PAYLOAD" : String(named ?? (service === "s3" ? "" : sha256(body)));
  if (!signed.isQuery && digest !== sha256(body)) return "XAmzContentSHA256Mismatch";
  const text = [
    "AWS4-HMAC-SHA256",
    signed.at,
    `${date}/${region}/${service}/aws4_request`,
    sha256(canonicalRequest(request, { url, signed, digest })),
  ].join("\n");
  const key = [date ?? "", region ?? "", expectedService, "aws4_request"].reduce<Buffer | string>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    `AWS4${keys.secretAccessKey}`,
  );
  return createHmac("sha256", key).update(text).digest("hex") === signed.signature ? null : "SignatureDoesNotMatch";
}

interface Signed {
  /** Access key id, date, region, service. */
  scope: string[];
  headers: string[];
  signature: string;
  at: string;
  expiresAt: number;
  isQuery: boolean;
}

function readHeader({ headers }: IncomingMessage): Signed | null {
  const [, scope, names, signature] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/.exec(
      headers.authorization ?? "",
    ) ?? [];
  if (!scope || !names || !signature) return null;
  const at = String(headers["x-amz-date"]);
  const expiresAt = instantOf(at) + 15 * 60_000;
  return { scope: scope.split("/"), headers: names.split(";"), signature, at, expiresAt, isQuery: false };
}

function readQuery({ searchParams }: URL): Signed | null {
  const signature = searchParams.get("X-Amz-Signature");
  const at = searchParams.get("X-Amz-Date");
  if (signature === null || at === null) return null;
  return {
    scope: (searchParams.get("X-Amz-Credential") ?? "").split("/"),
    headers: (searchParams.get("X-Amz-SignedHeaders") ?? "").split(";"),
    signature,
    at,
    expiresAt: instantOf(at) + Number(searchParams.get("X-Amz-Expires")) * 1_000,
    isQuery: true,
  };
}

function canonicalRequest(
  request: IncomingMessage,
  { url, signed, digest }: { url: URL; signed: Signed; digest: string },
): string {
  const query = [...url.searchParams]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort();
  const headers = signed.headers.map((name) => `${name}:${String(request.headers[name] ?? "").trim()}\n`);
  const path = url.pathname.split("/").map((part) => encode(decodeURIComponent(part)));
  return [request.method, path.join("/"), query.join("&"), headers.join(""), signed.headers.join(";"), digest].join(
    "\n",
  );
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");

/** Of a text such as 20260102T030405Z. */
const instantOf = (text: string): number =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
