// Which files of a change are reviewed first.

/** 0 is written by hand; 1 is generated or third-party. */
export const rankOf = (path: string): 0 | 1 => (generated.some((pattern) => pattern.test(path)) ? 1 : 0);

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
