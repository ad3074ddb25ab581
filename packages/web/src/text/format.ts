// Times, durations and amounts for people.
const units = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });

export function ago(at: string, now = Date.now()): string {
  const seconds = (new Date(at).getTime() - now) / 1000;
  for (const [unit, size] of units)
    if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit);
  return "just now";
}

export const exactTime = (at: string): string =>
  new Date(at).toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" });

export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function money(cents: number): string {
  if (cents === 0) return "$0";
  if (cents < 1) return "<$0.01";
  return `$${(cents / 100).toFixed(2)}`;
}

/** `host/owner/name` without scheme and `.git`, shortened to what tells repositories apart. */
export function repositoryName(url: string): string {
  const path = url.replace(/^\w+:\/\/(?:[^/@]+@)?/, "").replace(/\.git$/, "");
  return (
    path
      .split("/")
      .slice(1)
      .join("/")
      .replace(/^git\//, "") || path
  );
}

export const fileSize = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} ${bytes === 1 ? "byte" : "bytes"}`
    : bytes < 1024 ** 2
      ? `${(bytes / 1024).toFixed(1)} KB`
      : `${(bytes / 1024 ** 2).toFixed(1)} MB`;

/** Half of them are within it. */
export function rangeOf(values: number[], show: (value: number) => string): string {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (part: number) => show(sorted[Math.round((sorted.length - 1) * part)] ?? 0);
  return at(0.25) === at(0.75) ? at(0.5) : `${at(0.25)} to ${at(0.75)}`;
}

/** Markdown as one line of text, for lists. */
export const plainText = (markdown: string): string =>
  markdown
    .replaceAll(/^\s*(?:[-*+]|#{1,6}|>|\d+\.)\s+/gm, "")
    .replaceAll(/`+|\*\*/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
