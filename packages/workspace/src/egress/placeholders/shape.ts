// Makes placeholders: texts of the same shape and length as a value, which programs accept in its place and which no host accepts. Pure but for chance.
import { randomInt } from "node:crypto";

/** Fewer random characters could be guessed, or occur by chance. */
export const minReplaced = 16;

/** Null: too short, or with characters that no header can have. */
export function placeholderFor(value: string): string | null {
  if (!/^[\x20-\x7e]+$/.test(value)) return null;
  const prefix = prefixOf(value);
  const rest = value.slice(prefix.length);
  if ([...rest].filter(isAlphanumeric).length < minReplaced) return null;
  return prefix + [...rest].map(replacementIn(rest)).join("");
}

/** Such as `ghp_` and `sk-proj-`: programs tell keys apart by it. Kept where enough is left without it. */
function prefixOf(value: string): string {
  const [prefix = ""] = /^[A-Za-z]{2,12}[-_](?:[A-Za-z]{1,8}[-_]){0,2}/.exec(value) ?? [];
  const rest = [...value.slice(prefix.length)].filter(isAlphanumeric);
  return rest.length >= minReplaced ? prefix : "";
}

const isAlphanumeric = (one: string): boolean => /[A-Za-z0-9]/.test(one);

/** Digits stay digits, and letters of hexadecimal numbers stay such. */
function replacementIn(rest: string): (one: string) => string {
  const letters = /^[0-9a-f-]+$/i.test(rest) ? "abcdef" : "abcdefghijklmnopqrstuvwxyz";
  return (one) => {
    if (/\d/.test(one)) return drawn("0123456789");
    if (/[a-z]/.test(one)) return drawn(letters);
    return /[A-Z]/.test(one) ? drawn(letters.toUpperCase()) : one;
  };
}

const drawn = (from: string): string => from.charAt(randomInt(from.length));
