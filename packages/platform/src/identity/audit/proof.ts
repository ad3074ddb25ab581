// Which entries of a whole log are proved by the anchor or by heads that were kept elsewhere. Pure.
import type { Anchor } from "./anchor.ts";
import type { Head } from "./chain.ts";

/** Entries that may have been rewritten together with all hashes behind them. */
export interface UnprovedPart {
  from: number;
  to: number;
  reason: string;
}

/** `end`: the last entry of the log. */
export function findUnproved(end: number, anchor: Anchor, expected: Head[]): UnprovedPart[] {
  const known = Math.max(0, ...expected.map(({ seq }) => seq));
  if (anchor.kind !== "kept") return partsOf([{ from: known + 1, to: end, reason: reasons[anchor.kind] }]);
  const { head, begunAfter } = anchor;
  return partsOf([
    { from: known + 1, to: Math.min(begunAfter, end), reason: reasons.before },
    { from: Math.max(known, head.seq) + 1, to: end, reason: reasons.after },
  ]);
}

const partsOf = (parts: UnprovedPart[]): UnprovedPart[] => parts.filter(({ from, to }) => from <= to);

/** Of a log without a data directory. */
export const findUnprovedInFile = (end: number, expected: Head[]): UnprovedPart[] =>
  findUnproved(end, { kind: "none" }, expected).map((part) => ({ ...part, reason: reasons.file }));

const pass = "Pass a head that you kept with --expect.";

const reasons = {
  none: `there is no audit-head in the data directory: no server has run since, or it was removed. ${pass}`,
  unproved: `audit-head has no code, or the key-encryption key is missing: any process could have written it. ${pass}`,
  forged: `audit-head was not written with the key-encryption key. ${pass}`,
  before: `audit-head was begun after them. ${pass}`,
  after: `they are newer than audit-head. Start a server, which continues it, or verify again later. ${pass}`,
  file: `a file proves only that its hashes match. ${pass}`,
};
