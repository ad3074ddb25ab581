// Import directions between packages. What is not allowed here is forbidden.
import { builtinModules } from "node:module";
import { findImports, type Import } from "./imports.ts";
import { type Problem, placeOf, readSources, repositoryRoot, type SourceFile } from "./tree.ts";

const everything = ["protocol", "engine", "models", "workspace", "project", "mcp"];

/** Package → packages of ours its shipped code may import. Tests may import anything. */
export const allowedImports: Record<string, string[]> = {
  protocol: [],
  engine: ["protocol"],
  models: ["engine", "protocol"],
  project: ["engine", "protocol"],
  mcp: ["engine", "protocol"],
  workspace: ["protocol"],
  local: ["engine", "workspace", "protocol"],
  testkit: ["protocol"],
  sdk: ["protocol"],
  "platform-sdk": [...everything, "local"],
  action: ["protocol"],
  web: ["protocol"],
  worker: ["workspace", "protocol"],
  cli: [...everything, "local", "sdk", "worker", "action", "platform-sdk"],
  platform: everything,
};

/** Packages that must run anywhere and therefore touch nothing of Node. */
const withoutNode = new Set(["engine"]);

/** Loading the schemas at start would cost every run its cold start; types, zod-free subpaths and late loading do not. */
const loadsSchemasLate = new Set([
  "engine",
  "models",
  "workspace",
  "project",
  "mcp",
  "local",
  "cli",
  "sdk",
  "platform-sdk",
]);

export function findForbiddenImports(root = repositoryRoot): Problem[] {
  return readSources(root, /\.(ts|tsx|mts|cts|js|mjs|cjs)$/).flatMap((file) =>
    findImports(file.text).flatMap((found) => judge(file, found)),
  );
}

function judge(file: SourceFile, found: Import): Problem[] {
  const place = placeOf(file.path);
  if (!place?.isShipped) return [];
  const where = `${file.path}:${found.line}`;
  const allowed = allowedImports[place.package];
  if (!allowed) return [`${where}: package ${place.package} has no row in checks/boundaries.ts; add one.`];
  if (withoutNode.has(place.package) && isOfNode(found.specifier))
    return [`${where}: ${place.package} must not import ${found.specifier}; ask for it through a port.`];
  if (loadsSchemasLate.has(place.package) && found.specifier === "@agentcli/protocol" && found.kind === "static")
    return [`${where}: import types only from ${found.specifier}, or load it when first needed; it starts slowly.`];
  const target = targetPackage(file.path, found.specifier);
  if (target === undefined || target === place.package || allowed.includes(target)) return [];
  return [
    `${where}: ${place.package} must not import ${target}; it may import ${allowed.join(", ") || "nothing of ours"}.`,
  ];
}

const isOfNode = (specifier: string): boolean =>
  specifier.startsWith("node:") || builtinModules.includes(specifier.split("/")[0] ?? "");

/** The package of ours a specifier leads to, by name or by a relative path that leaves its own. */
function targetPackage(from: string, specifier: string): string | undefined {
  const named = /^@agentcli\/([^/]+)/.exec(specifier)?.[1];
  if (named !== undefined || !specifier.startsWith(".")) return named;
  const path = new URL(specifier, `file:///${from}`).pathname;
  return /^\/packages\/([^/]+)\//.exec(path)?.[1] ?? "files outside packages/";
}
