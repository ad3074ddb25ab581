// Which files of a change are reviewed first.

import type { ChangedFile } from "./changed-file.ts";

/** What an author wrote comes first; within a rank, what changed most. Equal files stay in the order of the diff. */
export const byImportance = (left: ChangedFile, right: ChangedFile): number =>
  rankOf(left) - rankOf(right) || right.changedLines - left.changedLines;

/** 0 is written by hand, 1 is removed or too long to be, 2 is generated or third-party. */
function rankOf({ path, kind, changedLines }: ChangedFile): 0 | 1 | 2 {
  if (generated.some((pattern) => pattern.test(path))) return 2;
  return kind === "deleted" || changedLines > maxWrittenLines ? 1 : 0;
}

const maxWrittenLines = 10_000;

const generated: RegExp[] = [
  // Lock files of package managers.
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|[^/]+\.lock|[^/]+\.lockfile|bun\.lockb?)$/,
  // Third-party code.
  /(^|\/)(node_modules|vendor|vendored|third_party|third-party|bower_components|Pods)\//,
  // Build output.
  /(^|\/)(dist|build|out|target|generated|__generated__|__snapshots__)\//,
  /\.(min\.(js|css)|bundle\.js|map|snap)$/,
  /(\.pb\.(go|cc|h)|_pb2(_grpc)?\.py|\.g\.dart|\.designer\.cs|[._-]generated\.\w+)$/,
  // Data that happens to be text.
  /\.(svg|csv|tsv|ipynb|po|pot)$/,
];
