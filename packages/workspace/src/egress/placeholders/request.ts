// Puts values in the place of their placeholders in the head of a request: only where the secret says, and only if nothing else is there. Pure.

/** Where a value may go; everything else keeps the placeholder. */
export type SecretUse =
  /** `Authorization: Bearer VALUE`, or `token VALUE`. */
  | "bearer"
  /** `Authorization: Basic`, as the user or the password. */
  | "basic"
  | `header:${string}`
  | `query:${string}`
  /** Anywhere in the body. */
  | "body"
  /** The secret key that the request is signed with (AWS, version 4). */
  | "sigv4";

export interface BoundSecret {
  name: string;
  value: string;
  /** As long as the value. */
  placeholder: string;
  /** Names, with `*.` before them for all below, and a port if it is not 443. */
  hosts: string[];
  uses: SecretUse[];
}

export interface RequestHead {
  method: string;
  /** Path and query. */
  path: string;
  /** Names and values alternate, as in Node. */
  headers: string[];
}

export function fillHead({ method, path, headers }: RequestHead, secrets: BoundSecret[]): RequestHead {
  return { method, path: fillQuery(path, secrets), headers: mapHeaders(headers, fillHeader(secrets)) };
}

export const mapHeaders = (headers: string[], change: (name: string, value: string) => string): string[] =>
  headers.map((text, index) => (index % 2 === 0 ? text : change((headers[index - 1] ?? "").toLowerCase(), text)));

function fillHeader(secrets: BoundSecret[]): (name: string, value: string) => string {
  return (name, value) => {
    for (const secret of secrets) {
      const { placeholder, uses } = secret;
      if (value === placeholder && uses.includes(`header:${name}`)) return secret.value;
      if (name !== "authorization") continue;
      const [, scheme = "", rest = ""] = /^([A-Za-z]+) +(\S.*)$/.exec(value) ?? [];
      if (uses.includes("bearer") && /^(?:bearer|token)$/i.test(scheme) && rest === placeholder)
        return `${scheme} ${secret.value}`;
      const filled = uses.includes("basic") && /^basic$/i.test(scheme) ? fillBasic(rest, secret) : null;
      if (filled !== null) return `${scheme} ${filled}`;
    }
    return value;
  };
}

/** Null: neither the user nor the password is the placeholder. */
function fillBasic(encoded: string, { placeholder, value }: BoundSecret): string | null {
  const text = Buffer.from(encoded, "base64").toString();
  const colon = text.indexOf(":");
  const [user, password] = colon < 0 ? [text, ""] : [text.slice(0, colon), text.slice(colon + 1)];
  if (user !== placeholder && password !== placeholder) return null;
  const put = (part: string) => (part === placeholder ? value : part);
  return Buffer.from(`${put(user)}:${put(password)}`).toString("base64");
}

function fillQuery(path: string, secrets: BoundSecret[]): string {
  const at = path.indexOf("?");
  if (at < 0) return path;
  const parameters = path.slice(at + 1).split("&");
  const filled = parameters.map((parameter) => {
    const [name = "", text = ""] = parameter.split("=", 2);
    const secret = secrets.find(
      ({ placeholder, uses }) => uses.includes(`query:${decoded(name)}`) && decoded(text) === placeholder,
    );
    return secret ? `${name}=${encodeURIComponent(secret.value)}` : parameter;
  });
  return `${path.slice(0, at)}?${filled.join("&")}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
