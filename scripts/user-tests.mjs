// `npm run test:user`: tests of security as an ordinary user, or the given test files. Root runs them in a copy that this user owns.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runTests } from "./vitest-run.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const unprivilegedId = 65534;
export const isRoot = process.geteuid?.() === 0;

/** Others of the escape suites change the user themselves, so that one run has both. */
export const securityTests = [
  "checks/lock-file.test.ts",
  "checks/setup-locked.test.ts",
  "e2e/cli/cloud-apply-settings.test.ts",
  "e2e/cli/hooks-trust.test.ts",
  "e2e/cli/replay.test.ts",
  "e2e/cli/terminal.test.ts",
  "e2e/platform/at-rest.test.ts",
  "e2e/platform/restore-signals.test.ts",
  "packages/action/test/clean-path.test.ts",
  "packages/action/test/output-file.test.ts",
  "packages/action/test/runner-files.test.ts",
  "packages/app-server/test/transports.test.ts",
  "packages/cli/test/scratch.test.ts",
  "packages/cli/test/worktree.test.ts",
  "packages/command-line/test/output-file.test.ts",
  "packages/command-line/test/terminal-text.test.ts",
  "packages/engine/test/approvals.test.ts",
  "packages/host/test/git.test.ts",
  "packages/host/test/hook-copies.test.ts",
  "packages/mcp/test/oauth.test.ts",
  "packages/mcp/test/readers.test.ts",
  "packages/mcp/test/stdio.test.ts",
  "packages/platform-sdk/test/bridge.test.ts",
  "packages/platform-sdk/test/local-sandbox.test.ts",
  "packages/platform-sdk/test/local-settings.test.ts",
  "packages/platform-sdk/test/local-store.test.ts",
  "packages/platform/test/agents/deleted.test.ts",
  "packages/platform/test/automations/as-code.test.ts",
  "packages/platform/test/automations/event-limits.test.ts",
  "packages/platform/test/automations/inbound.test.ts",
  "packages/platform/test/automations/limits.test.ts",
  "packages/platform/test/egress/record.test.ts",
  "packages/platform/test/environments/build-logs.test.ts",
  "packages/platform/test/environments/hostile-builds.test.ts",
  "packages/platform/test/environments/images.test.ts",
  "packages/platform/test/foundation/admission.test.ts",
  "packages/platform/test/foundation/forwarding.test.ts",
  "packages/platform/test/foundation/http-connections.test.ts",
  "packages/platform/test/foundation/names.test.ts",
  "packages/platform/test/foundation/unlinked-files.test.ts",
  "packages/platform/test/identity/audit-anchor.test.ts",
  "packages/platform/test/identity/audit-recording.test.ts",
  "packages/platform/test/identity/audit-tampering.test.ts",
  "packages/platform/test/identity/former-users.test.ts",
  "packages/platform/test/identity/invitations.test.ts",
  "packages/platform/test/identity/oidc-claims.test.ts",
  "packages/platform/test/identity/oidc-hostile.test.ts",
  "packages/platform/test/identity/oidc.test.ts",
  "packages/platform/test/integrations/push.test.ts",
  "packages/platform/test/integrations/webhooks.test.ts",
  "packages/platform/test/operations/backup-agent-files.test.ts",
  "packages/platform/test/operations/backup-links.test.ts",
  "packages/platform/test/operations/restore-hostile.test.ts",
  "packages/platform/test/previews/hostile.test.ts",
  "packages/platform/test/repositories/accounts.test.ts",
  "packages/platform/test/runs/artifacts.test.ts",
  "packages/platform/test/runs/cloud-roles-open.test.ts",
  "packages/platform/test/runs/former-requesters.test.ts",
  "packages/platform/test/runs/isolation.test.ts",
  "packages/platform/test/runs/secret-paths.test.ts",
  "packages/platform/test/runs/team-shares.test.ts",
  "packages/project/test/hook-code-javascript.test.ts",
  "packages/project/test/hook-code-perl-ruby.test.ts",
  "packages/project/test/hook-code-python.test.ts",
  "packages/project/test/hook-code-uncopied.test.ts",
  "packages/project/test/hook-pinning.test.ts",
  "packages/project/test/hooks.test.ts",
  "packages/project/test/sanitize.test.ts",
  "packages/project/test/skills.test.ts",
  "packages/worker/test/sessions.test.ts",
  "packages/worker/test/spawn-output.test.ts",
  "packages/workspace/test/agent-socket.test.ts",
  "packages/workspace/test/cache/clear.test.ts",
  "packages/workspace/test/egress/bridge-limits.test.ts",
  "packages/workspace/test/egress/by-name.test.ts",
  "packages/workspace/test/egress/name-server.test.ts",
  "packages/workspace/test/egress/proxy.test.ts",
  "packages/workspace/test/egress/resolver-settings.test.ts",
  "packages/workspace/test/environment/environment.test.ts",
  "packages/workspace/test/limits/limits.test.ts",
  "packages/workspace/test/programs/programs.test.ts",
  "packages/workspace/test/sandbox/commits/import.test.ts",
  "packages/workspace/test/sandbox/ignore-files.test.ts",
  "packages/workspace/test/sandbox/local-peer.test.ts",
  "packages/workspace/test/sandbox/own-directories.test.ts",
  "packages/workspace/test/sandbox/replaced-directory.test.ts",
  "packages/workspace/test/sandbox/repositories/configured.test.ts",
  "packages/workspace/test/sandbox/repositories/watch-traps.test.ts",
  "packages/workspace/test/sandbox/repositories/watch.test.ts",
  "packages/workspace/test/sandbox/seccomp.test.ts",
  "packages/workspace/test/sandbox/variable-files.test.ts",
  "packages/workspace/test/server/edit/targets.test.ts",
];

/** A quarter of them, another each day: `npm test` has run all of them as root. */
export function sampleOfSecurityTests(parts = 4) {
  const part = Number(process.env.SWEEP_SEED) % parts;
  return securityTests.filter((_file, index) => index % parts === part);
}

/** Returns the exit status. */
export function runUserTests(files = securityTests) {
  const missing = files.filter((file) => !existsSync(join(root, file)));
  if (missing.length > 0) {
    console.error(`No such test file: ${missing.join(", ")}. Fix the name and run again.`);
    return 1;
  }
  return isRoot ? runInCopy(files) : runTests(files).status;
}

/** Another user can read neither a clone in a private directory nor the database that the tests of root share. */
function runInCopy(files) {
  const copy = mkdtempSync("/var/tmp/user-tests-");
  try {
    makeCopy(copy);
    const home = join(copy, "home");
    mkdirSync(home);
    chown(home);
    const { status } = spawnSync(process.execPath, [join(copy, "scripts/user-tests.mjs"), ...files], {
      cwd: copy,
      env: { ...environment(), HOME: home },
      uid: unprivilegedId,
      gid: unprivilegedId,
      stdio: "inherit",
    });
    return status ?? 1;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/**
 * The user owns all but installed packages, which are hard links where that is possible:
 * a copy of 400 MB is written to disk while tests wait for their own writes.
 */
function makeCopy(copy) {
  const own = readdirSync(root).filter((name) => ![".git", "node_modules"].includes(name));
  run("cp", ["-a", ...own.map((name) => join(root, name)), copy]);
  const [from, to] = [root, copy].map((directory) => join(directory, "node_modules"));
  mkdirSync(to);
  const installed = readdirSync(from).filter((name) => name !== ".cache");
  const isPackage = (name) => !name.startsWith(".");
  const copyInstalled = (flags, names) => run("cp", [...flags, ...names.map((name) => join(from, name)), to]);
  copyInstalled(
    ["-a"],
    installed.filter((name) => !isPackage(name)),
  );
  chown(copy);
  const packages = statSync(join(from, "vitest/package.json"));
  const canLink = packages.dev === statSync(copy).dev && (packages.mode & 0o004) !== 0;
  copyInstalled(canLink ? ["-a", "--link"] : ["-a"], installed.filter(isPackage));
  if (!canLink) chown(to);
}

const chown = (path) => run("chown", ["-R", `${unprivilegedId}:${unprivilegedId}`, path]);

/** npm tells its scripts where the cache of the user who started it is. */
const environment = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));

function run(program, args) {
  const { status, error, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (error) throw new Error(`${program} could not be started: ${error.message}`, { cause: error });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = process.argv.slice(2);
  process.exit(runUserTests(files.length > 0 ? files : undefined));
}
