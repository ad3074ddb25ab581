// A value that tests look for everywhere, and all that it could be shown as.
export const canary = 'canary-5e0f+/="x';
const bytes = Buffer.from(canary);
const pairs = bytes.toString("hex").match(/../g) ?? [];
export const base64 = (text: string) => Buffer.from(text).toString("base64");

/** What a reader would recognise, or could turn back with one usual program. */
export const forms = [
  canary,
  [...canary].reverse().join(""),
  bytes.toString("hex"),
  bytes.toString("hex").toUpperCase(),
  pairs.join(" "),
  pairs.map((pair) => `\\x${pair}`).join(""),
  pairs.map((pair) => `%${pair}`).join(""),
  pairs.map((pair) => `\\u00${pair}`).join(""),
  encodeURIComponent(canary),
  JSON.stringify(canary).slice(1, -1),
  base64(canary).slice(0, -4),
  base64(`x${canary}`).slice(4, -4),
  base64(`xx${canary}`).slice(4, -4),
];

export const formsIn = (text: string): string[] => forms.filter((form) => text.includes(form));
