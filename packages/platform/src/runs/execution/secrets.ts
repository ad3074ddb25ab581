// The secrets of a run: of its variables every value except a short list of common words, and those of its MCP servers.
import type { Secret } from "@agentcli/engine";
import { headerSecrets } from "@agentcli/host";
import type { McpServer } from "@agentcli/protocol/api";
import type { AgentSecret } from "../../secrets/index.ts";

export const secretsOfServer = (server: McpServer): Secret[] =>
  "command" in server ? secretsIn(server.env ?? {}) : headerSecrets(server.name, server.headers);

/**
 * A word such as `production` occurs in many texts, and redacting it hides nothing. Only values of this closed
 * list are not redacted: nothing in any other value shows whether it is a secret.
 */
export const secretsIn = (variables: Record<string, string>): Secret[] =>
  Object.entries(variables).flatMap(([name, value]) =>
    isKnownToAll(name, value) ? [] : [value, ...partsOf(value)].map((part) => ({ name, value: part })),
  );

/** Whatever their values are: the owner said that they are secret. Variables of type environment_variable may be seen. */
export const runtimeSecrets = (secrets: AgentSecret[]): Secret[] =>
  secrets
    .filter(({ type }) => type === "runtime_secret")
    .flatMap(({ name, value }) => [value, ...partsOf(value)].map((part) => ({ name, value: part })));

const isKnownToAll = (name: string, value: string): boolean =>
  !secretName.test(name) && commonplace.some((pattern) => pattern.test(value.trim()));

const secretName = /key|token|secret|pass|pwd|cred|auth|cookie|session|sign|private|salt|seed|code|pin|otp|login|cert/i;

const commonplace = [
  /^(?:true|false|enabled?|disabled?|default|always|never|verbose|silent|warning|notice|undefined|required|optional)$/i,
  /^(?:development|production|staging|testing|preview|sandbox|localhost|container|nightly|release|stable)$/i,
  /^(?:postgres(?:ql)?|sqlite3?|mariadb|mongodb|rabbitmq|chromium|firefox|webkit|typescript|javascript|python3?)$/i,
  /^(?:https?:\/\/)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?::\d{1,5})?\/?$/i,
  /^v?\d{1,3}(?:\.\d{1,3}){1,3}$/,
  /^[a-z]{2}_[A-Z]{2}(?:\.UTF-8)?$|^C\.UTF-8$/,
  /^\/(?:usr|usr\/local|usr\/bin|usr\/local\/bin|home|workspace)\/?$/,
];

/** Parts that programs extract from a value: the password in a URL, the lines of a key, members of JSON. */
function partsOf(value: string): string[] {
  if (/^\s*[[{]/.test(value)) return textsIn(parsed(value)).flatMap((text) => [text, ...partsOf(text)]);
  if (value.includes("-----BEGIN ")) return value.split(/\r?\n|\\n/).filter((line) => /^[\w+/=]{20,}$/.test(line));
  return passwordsIn(value);
}

function passwordsIn(value: string): string[] {
  if (!URL.canParse(value)) return [];
  const { password } = new URL(value);
  return password === "" ? [] : [password, decoded(password)];
}

const shortestMember = 12;

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return value.length >= shortestMember ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
