// The few texts in XML that S3 answers with.
import { readXmlText } from "../xml/index.ts";
import type { ObjectEntry } from "./object-store.ts";

export function readListing(xml: string): { entries: ObjectEntry[]; next: string | null } {
  const entries = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, element = ""]) => ({
    key: readXmlText(element, "Key") ?? "",
    sizeBytes: Number(readXmlText(element, "Size")),
    modifiedAt: new Date(readXmlText(element, "LastModified") ?? 0),
  }));
  const isTruncated = readXmlText(xml, "IsTruncated") === "true";
  return { entries, next: isTruncated ? readXmlText(xml, "NextContinuationToken") : null };
}
