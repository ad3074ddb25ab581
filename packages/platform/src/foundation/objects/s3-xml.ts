// The few texts in XML that S3 answers with.
import type { ObjectEntry } from "./object-store.ts";

/** The text of the first element with this name; null if there is none. */
export function readText(xml: string, name: string): string | null {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return found === undefined ? null : decode(found);
}

export function readListing(xml: string): { entries: ObjectEntry[]; next: string | null } {
  const entries = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, element = ""]) => ({
    key: readText(element, "Key") ?? "",
    sizeBytes: Number(readText(element, "Size")),
    modifiedAt: new Date(readText(element, "LastModified") ?? 0),
  }));
  const isTruncated = readText(xml, "IsTruncated") === "true";
  return { entries, next: isTruncated ? readText(xml, "NextContinuationToken") : null };
}

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const decode = (text: string): string =>
  text
    .replace(/&#(\d+);/g, (_match, digits: string) => String.fromCodePoint(Number(digits)))
    .replace(/&(amp|lt|gt|quot|apos);/g, (_match, name: string) => entities[name] ?? "");
