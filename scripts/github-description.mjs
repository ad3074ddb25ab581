// GitHub's official description of its API: the excerpt that tests use, and the whole of it for the long run.
// `node scripts/github-description.mjs` writes the excerpt again; with `--whole` it prints the path of the whole.
// The whole takes 385 MB on disk with all its variants, so it is not a dependency: it is downloaded on demand and cached.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const version = "23.0.2";
const integrity = "sha512-pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg==";
const file = "package/generated/api.github.com.json";
export const excerptFile = join(root, "packages/testkit/generated/github-api.json");

/** Operations that the platform uses. */
const operations = [
  "apps/get-repo-installation",
  "apps/create-installation-access-token",
  "apps/list-installations",
  "apps/list-repos-accessible-to-installation",
  "pulls/list",
  "pulls/get",
  "pulls/create",
  "pulls/update",
  "pulls/list-requested-reviewers",
  "pulls/request-reviewers",
  "pulls/list-reviews",
  "pulls/create-review",
  "pulls/create-review-comment",
  "issues/create-comment",
  "checks/create",
  "checks/update",
  "checks/list-for-ref",
  "repos/check-collaborator",
  "repos/get-collaborator-permission-level",
  "repos/get",
  "repos/list-for-authenticated-user",
  "users/get-authenticated",
  "users/get-by-username",
  "pulls/list-files",
  "pulls/dismiss-review",
  "repos/compare-commits-with-basehead",
  "repos/list-commits",
  "apps/list-webhook-deliveries",
  "apps/get-webhook-delivery",
  "repos/list-webhooks",
  "repos/list-webhook-deliveries",
  "repos/get-webhook-delivery",
  "actions/list-jobs-for-workflow-run",
  "actions/download-job-logs-for-workflow-run",
  "checks/list-for-suite",
];

/** The path of the whole description, downloaded unless it is cached. */
export function provideDescription() {
  const cached = join(root, "node_modules/.cache/github-description", `${version}.json`);
  if (existsSync(cached)) return cached;
  mkdirSync(dirname(cached), { recursive: true });
  const draft = mkdtempSync(join(dirname(cached), "draft-"));
  try {
    const packed = execFileSync("npm", ["pack", "--silent", `@octokit/openapi@${version}`], { cwd: draft }).toString();
    const archive = join(draft, packed.trim().split("\n").at(-1));
    const digest = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
    if (digest !== integrity) throw new Error(`@octokit/openapi@${version} has changed: ${digest}`);
    execFileSync("tar", ["-xzf", archive, file], { cwd: draft });
    renameSync(join(draft, file), cached);
  } finally {
    rmSync(draft, { recursive: true });
  }
  return cached;
}

/** The operations with everything they refer to, without documentation. */
export function excerptOf(description) {
  const { openapi, info } = description;
  const excerpt = { openapi, info: { title: info.title, version: info.version, license: info.license } };
  excerpt.paths = {};
  excerpt.components = {};
  for (const [path, methods] of Object.entries(description.paths))
    for (const [method, operation] of Object.entries(methods))
      if (operations.includes(operation.operationId))
        excerpt.paths[path] = { ...excerpt.paths[path], [method]: withoutDocumentation(operation) };
  copyReferences(excerpt.paths, description, excerpt.components);
  return excerpt;
}

function copyReferences(value, description, components) {
  if (typeof value !== "object" || value === null) return;
  const reference = value.$ref;
  if (typeof reference === "string") {
    const [, kind, name] = reference.slice("#/".length).split("/");
    if (components[kind]?.[name]) return;
    components[kind] ??= {};
    components[kind][name] = withoutDocumentation(description.components[kind][name]);
    copyReferences(components[kind][name], description, components);
  }
  for (const inner of Object.values(value)) copyReferences(inner, description, components);
}

const documentation = [
  "examples",
  "example",
  "externalDocs",
  "x-github",
  "x-octokit",
  "summary",
  "tags",
  "description",
];

/** A property may have one of these names; then it is a schema and stays. */
function withoutDocumentation(value, isProperties = false) {
  if (Array.isArray(value)) return value.map((inner) => withoutDocumentation(inner));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => isProperties || !documentation.includes(name));
  return Object.fromEntries(
    kept.map(([name, inner]) => [name, withoutDocumentation(inner, !isProperties && name === "properties")]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const whole = provideDescription();
  if (process.argv[2] === "--whole") process.stdout.write(`${whole}\n`);
  else {
    mkdirSync(dirname(excerptFile), { recursive: true });
    writeFileSync(excerptFile, `${JSON.stringify(excerptOf(JSON.parse(readFileSync(whole, "utf8"))))}\n`);
  }
}
