// Hides what may be a secret in a configuration that is shown.
const mask = "********";

export function masked(path: string[], value: unknown): unknown {
  if (typeof value === "string") return isSecret(path) ? mask : withoutPassword(value);
  if (Array.isArray(value)) return value.map((item) => masked(path, item));
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, masked([...path, key], inner)]));
}

/** Keys that hold the name of a variable, an address or a choice, though they speak of a secret. */
const named = /^(env_key|env_key_instructions|.*_env_var|.*_endpoint|.*_store)$/;

function isSecret(path: string[]): boolean {
  const key = path.at(-1) ?? "";
  if (path.includes("env_http_headers") || named.test(key)) return false;
  return /key|token|secret|password|passwd|credential|auth|cookie|bearer/i.test(key);
}

const withoutPassword = (text: string): string =>
  text.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/:@\s]*):[^/@\s]*@/i, `$1:${mask}@`);
