// Which files of a change are worth a reviewer's attention first.

/** 0 was written by people; 1 was made by a program or belongs to somebody else. */
export const rankOf = (path: string): 0 | 1 => (made.some((pattern) => pattern.test(path)) ? 1 : 0);

const made: RegExp[] = [
  // Lock files of package managers.
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|[^/]+\.lock|[^/]+\.lockfile|bun\.lockb?)$/,
  // Copies of other people's code.
  /(^|\/)(node_modules|vendor|vendored|third_party|third-party|bower_components|Pods)\//,
  // What a build leaves behind.
  /(^|\/)(dist|build|out|target|generated|__generated__|__snapshots__)\//,
  /\.(min\.(js|css)|bundle\.js|map|snap)$/,
  /(\.pb\.(go|cc|h)|_pb2(_grpc)?\.py|\.g\.dart|\.designer\.cs|[._-]generated\.\w+)$/,
  // Data that happens to be text.
  /\.(svg|csv|tsv|ipynb|po|pot)$/,
];
