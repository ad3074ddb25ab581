// A value that tests look for everywhere, and all that it could be shown as.
export const canary = 'canary-5e0f+/="x';
export const base64 = (text: string) => Buffer.from(text).toString("base64");

/** What a reader would recognise, or could turn back with one usual program. */
export function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const pairs = bytes.toString("hex").match(/../g) ?? [];
  return [
    value,
    [...value].reverse().join(""),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    pairs.join(" "),
    pairs.map((pair) => `\\x${pair}`).join(""),
    pairs.map((pair) => `%${pair}`).join(""),
    pairs.map((pair) => `\\u00${pair}`).join(""),
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
    base64(value).slice(0, -4),
    base64(`x${value}`).slice(4, -4),
    base64(`xx${value}`).slice(4, -4),
  ];
}

export const forms = formsOf(canary);

export const formsIn = (text: string): string[] => forms.filter((form) => text.includes(form));
