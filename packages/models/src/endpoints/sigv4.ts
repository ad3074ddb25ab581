// Signature version 4 of AWS.
import { createHash, createHmac } from "node:crypto";

export interface AwsRequest {
  url: URL;
  method: string;
  /** All of them are signed. */
  headers: Record<string, string>;
  body: string;
}

export interface AwsSigner {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | undefined;
  region: string;
  service: string;
  at: Date;
}

/** The headers of the request with those that sign it. */
export function signAws(request: AwsRequest, signer: AwsSigner): Record<string, string> {
  const { sessionToken, accessKeyId, secretAccessKey, region, service } = signer;
  const time = signer.at.toISOString().replace(/[-:]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const headers = {
    ...request.headers,
    host: request.url.host,
    "x-amz-date": time,
    ...(sessionToken && { "x-amz-security-token": sessionToken }),
  };
  const names = Object.keys(headers).toSorted();
  const scope = `${day}/${region}/${service}/aws4_request`;
  const canonical = sha256(canonicalRequest({ ...request, headers }, names));
  const key = [day, region, service, "aws4_request"].reduce<Buffer | string>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key, ["AWS4-HMAC-SHA256", time, scope, canonical].join("\n")).toString("hex");
  const credential = `Credential=${accessKeyId}/${scope}`;
  const authorization = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  return { ...headers, authorization };
}

function canonicalRequest({ url, method, headers, body }: AwsRequest, names: string[]): string {
  // Every service but S3 encodes the path again, though it is encoded already.
  const path = url.pathname.split("/").map(encode).join("/");
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).toSorted();
  const lines = names.map((name) => `${name}:${headers[name]?.trim().replace(/ +/g, " ")}\n`);
  return [method, path, query.join("&"), lines.join(""), names.join(";"), sha256(body)].join("\n");
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: Buffer | string, text: string): Buffer => createHmac("sha256", key).update(text).digest();
