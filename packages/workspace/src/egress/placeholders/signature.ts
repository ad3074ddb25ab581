// Signs a request of AWS (signature version 4) again: it was signed with a placeholder, and goes out signed with the value. Pure.
import { createHash, createHmac } from "node:crypto";
import { type BoundSecret, mapHeaders, type RequestHead } from "./request.ts";

export interface SignedRequest {
  /** As the program sent it, and signed. */
  sent: RequestHead;
  /** As it goes out: values may be in it already. */
  outgoing: RequestHead;
  /** Empty where the request names its digest. */
  body: Buffer;
}

interface Signature {
  scope: string[];
  names: string[];
  signature: string;
}

export const readSignature = ({ headers }: RequestHead): Signature | null => {
  const [, scope, names, signature] =
    /^AWS4-HMAC-SHA256 +Credential=([^\s,]+), *SignedHeaders=([^\s,]+), *Signature=([0-9a-f]{64})$/.exec(
      valuesOf(headers, "authorization"),
    ) ?? [];
  if (!scope || !names || !signature) return null;
  return { scope: scope.split("/").slice(1), names: names.split(";"), signature };
};

/** The digest that the request names itself; null: it has to be computed. */
export const namedDigest = ({ headers }: RequestHead): string | null =>
  valuesOf(headers, "x-amz-content-sha256") || null;

/** The headers, with a new signature; null: no placeholder of these secrets has signed the request. */
export function signAgain({ sent, outgoing, body }: SignedRequest, secrets: BoundSecret[]): string[] | null {
  const signed = readSignature(sent);
  if (signed === null) return null;
  const digest = namedDigest(sent) ?? sha256(body);
  // Every service but S3 encodes the path again.
  for (const { placeholder, value } of secrets)
    for (const path of [pathOf(sent), encodedAgain(pathOf(sent))]) {
      const digestOf = (head: RequestHead) => canonicalDigest(head, { names: signed.names, path, digest });
      const context = { scope: signed.scope, at: valuesOf(sent.headers, "x-amz-date") };
      if (computeSignature(placeholder, digestOf(sent), context) !== signed.signature) continue;
      const fresh = computeSignature(value, digestOf(outgoing), context);
      return mapHeaders(outgoing.headers, (name, text) =>
        name === "authorization" ? text.replace(signed.signature, fresh) : text,
      );
    }
  return null;
}

const pathOf = ({ path }: RequestHead): string => path.split("?", 1)[0] ?? "/";
const encodedAgain = (path: string): string => path.split("/").map(encode).join("/");

interface Canonical {
  names: string[];
  path: string;
  digest: string;
}

function canonicalDigest({ method, path, headers }: RequestHead, { names, path: canonicalPath, digest }: Canonical) {
  const [, query = ""] = /\?(.*)$/.exec(path) ?? [];
  const parameters = query === "" ? [] : query.split("&").map(canonicalParameter).sort();
  const lines = names.map((name) => `${name}:${valuesOf(headers, name).replace(/ +/g, " ")}\n`);
  return sha256([method, canonicalPath, parameters.join("&"), lines.join(""), names.join(";"), digest].join("\n"));
}

function canonicalParameter(parameter: string): string {
  const [name = "", ...rest] = parameter.split("=");
  return `${encode(decode(name))}=${encode(decode(rest.join("=")))}`;
}

function computeSignature(secret: string, digest: string, { scope, at }: { scope: string[]; at: string }): string {
  const key = scope.reduce<Buffer | string>(hmac, `AWS4${secret}`);
  return hmac(key, ["AWS4-HMAC-SHA256", at, scope.join("/"), digest].join("\n")).toString("hex");
}

const valuesOf = (headers: string[], name: string): string =>
  headers
    .filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === name)
    .map((value) => value.trim())
    .join(",");

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");
const hmac = (key: Buffer | string, text: string): Buffer => createHmac("sha256", key).update(text).digest();
