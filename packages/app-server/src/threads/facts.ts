// The list entry of a thread, folded from its records.
import type { StoredRecord } from "@agentcli/engine";
import type { RecordOf } from "@agentcli/protocol";
import { type Origin, originOf } from "./live.ts";

export interface Facts {
  origin: Origin;
  cwd: string;
  provider: string;
  /** First words of the first prompt. */
  preview: string;
  updatedAtMs: number;
}

export const newFacts = (version: string): Facts => {
  const now = Date.now();
  return { origin: { createdAtMs: now, version }, cwd: "/", provider: "", preview: "", updatedAtMs: now };
};

export function noteFacts(facts: Facts, { at, record }: StoredRecord): void {
  facts.updatedAtMs = Date.parse(at);
  if (record.type === "thread.created") facts.origin = originOf(record, at);
  if (record.type !== "thread.created" && record.type !== "turn.begun") return;
  facts.cwd = record.settings.cwd;
  facts.provider = record.settings.provider;
  if (record.type === "turn.begun" && facts.preview === "") facts.preview = firstWords(record);
}

const maxLength = 200;

export const firstWords = ({ input }: RecordOf<"turn.begun">): string =>
  input
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join(" ")
    .slice(0, maxLength)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
