// Everything of a value that must not be seen: the value, the parts that programs extract, and forms beyond the usual encodings.
import type { Secret } from "@agentcli/engine";

export interface NamedValue {
  name: string;
  value: string;
}

/** For `scrubber` and `secretFinder`, which know base64, hex, JSON and the usual escapes of each. */
export const secretsToRedact = (secrets: NamedValue[]): Secret[] =>
  secrets.flatMap(({ name, value }) =>
    [...shownAs(value), ...partsOf(value)].flatMap((part) => formsOf(part).map((form) => ({ name, value: form }))),
  );

/** Also without the line ends around it, which shells leave out, and several lines as a patch shows them. */
function shownAs(value: string): string[] {
  const text = value.trim();
  return [value, text, ...["+", "-", " "].map((mark) => text.replaceAll("\n", `\n${mark}`))];
}

/** Reversed, and with every character escaped that some program escapes in addresses and forms. */
function formsOf(part: string): string[] {
  const escaped = encodeURIComponent(part).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  const forms = [escaped, escaped.replaceAll("%20", "+")].map((text) =>
    text.replace(/%../g, (one) => one.toUpperCase()),
  );
  const lower = forms.map((text) => text.replace(/%../g, (one) => one.toLowerCase()));
  return [...new Set([part, [...part].reverse().join(""), ...forms, ...lower])];
}

/** Parts that programs extract from a value: the password or one-time key in a URL, the lines of a key, members of JSON. */
export function partsOf(value: string): string[] {
  if (/^\s*[[{]/.test(value)) return textsIn(parsed(value)).flatMap((text) => [text, ...partsOf(text)]);
  if (value.includes("-----BEGIN ")) return value.split(/\r?\n|\\n/).filter((line) => /^[\w+/=]{20,}$/.test(line));
  return keysIn(value);
}

function keysIn(value: string): string[] {
  if (!URL.canParse(value)) return [];
  const { password, protocol, searchParams } = new URL(value);
  const oneTimeKey = protocol === "otpauth:" ? searchParams.getAll("secret") : [];
  return password === "" ? oneTimeKey : [password, decoded(password)];
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
