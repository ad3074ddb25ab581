// Removes known secret values from everything that is stored, shown or sent, in every usual encoding.
import { redacted } from "@agentcli/protocol/redacted";
import type { Json } from "../json.ts";
import { formFinder } from "./find-forms.ts";
import { keyForms, toBase32 } from "./key-forms.ts";

export interface Scrub {
  (text: string): string;
  /** How many characters of an unfinished text can be scrubbed now: the rest may be the beginning of a secret. */
  settled?(text: string): number;
}

export interface Secret {
  /** The variable, header or file that it is from; not shown. */
  name: string;
  value: string;
}

export const minFormLength = 6;
const longText = 65_536;

/** Replaces each secret, also in base64, hex, URL and JSON form and inside larger base64 text. */
export function scrubber(secrets: Secret[]): Scrub {
  const known = new Set(secrets.flatMap(({ value }) => [...formsOf(value)]));
  // The longest first: one secret may be the beginning of another.
  const forms = [...known]
    .filter((form) => form.length >= minFormLength)
    .sort((left, right) => right.length - left.length);
  if (forms.length === 0) return (text) => text;
  const pattern = new RegExp(forms.map(literally).join("|"), "g");
  const hasSecret = formFinder(forms);
  // A long reply is stored with its request and with the end of its turn: it is searched once.
  let clean = "";
  const scrub = (text: string): string => {
    if (text.length >= longText && text === clean) return text;
    if (hasSecret(text)) return text.replace(pattern, redacted);
    if (text.length >= longText) clean = text;
    return text;
  };
  return Object.assign(scrub, { settled: (text: string) => settledLength(text, forms, pattern) });
}

function settledLength(text: string, forms: string[], pattern: RegExp): number {
  const longest = forms[0]?.length ?? 0;
  for (let from = Math.max(0, text.length - longest + 1); from < text.length; from += 1) {
    const end = text.slice(from);
    if (forms.some((form) => form.length > end.length && form.startsWith(end))) return pastSecret(text, from, pattern);
  }
  return text.length;
}

/** A complete secret is settled, even if its last characters could begin another. */
function pastSecret(text: string, from: number, pattern: RegExp): number {
  for (const { index, 0: form } of text.matchAll(pattern)) {
    if (index < from && index + form.length > from) return index + form.length;
  }
  return from;
}

/** A copy with every string scrubbed. */
export function scrubJson<Value>(value: Value, scrub: Scrub): Value {
  return walk(value as Json, scrub) as Value;
}

function walk(value: Json | undefined, scrub: Scrub): Json | undefined {
  if (typeof value === "string") return scrub(value);
  if (Array.isArray(value)) return value.map((item) => walk(item, scrub) as Json);
  if (typeof value !== "object" || value === null) return value;
  const copy = { ...value };
  for (const key of Object.keys(copy)) copy[key] = walk(copy[key], scrub) as Json;
  return copy;
}

export function formsOf(value: string): Set<string> {
  const bytes = utf8(value);
  const pairs = bytes.map((byte) => byte.toString(16).padStart(2, "0"));
  const units = value.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  const json = JSON.stringify(value).slice(1, -1);
  const encoded = [0, 1, 2].map((offset) => base64Inside(bytes, offset));
  return new Set([
    value,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(value),
    ...inBothCases(pairs, ["", ":", " ", "%", "\\x"]),
    ...inBothCases(units, ["\\u"]),
    base32Inside(bytes),
    ...keyForms(value),
    ...encoded,
    ...encoded.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
  ]);
}

/** Digits one after another, or each group after a mark: `%68%75`, or `68:75` as programs print it. */
const inBothCases = (groups: string[], marks: string[]): string[] =>
  marks.flatMap((mark) =>
    [groups, groups.map((group) => group.toUpperCase())].map((digits) =>
      mark.length === 1 && mark !== "%" ? digits.join(mark) : digits.map((group) => mark + group).join(""),
    ),
  );

/** Up to the last character that depends on these bytes alone. */
const base32Inside = (bytes: number[]): string => toBase32(bytes).slice(0, Math.floor((bytes.length * 8) / 5));

/** The part of a larger base64 text that depends on these bytes alone, when they begin `offset` bytes into a group. */
function base64Inside(bytes: number[], offset: number): string {
  const padded = btoa(String.fromCharCode(...Array(offset).fill(0), ...bytes));
  const begins = offset === 0 ? 0 : offset + 1;
  const whole = Math.floor(((offset + bytes.length) * 8) / 6);
  return padded.slice(begins, whole);
}

const utf8 = (text: string): number[] => [...new TextEncoder().encode(text)];
const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
