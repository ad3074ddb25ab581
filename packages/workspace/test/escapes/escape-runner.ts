// Tries every attempt against the sandbox, or without one as a control, and prints which succeeded.
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toolEnvironment } from "../../src/sandbox/environment.ts";
import { openWorkspace } from "../../src/sandbox/launch.ts";
import { hiddenByDefault, sandboxPolicy } from "../../src/sandbox/policy.ts";
import { bash } from "../commands.ts";
import { type Attempt, attempts } from "./attempts.ts";
import { openFixture } from "./fixture.ts";

const [serverProgram = "", kind, descriptorFile = ""] = process.argv.slice(2);
const results: Record<string, { succeeded: boolean; said: string }> = {};
const marker = mkdtempSync(join(tmpdir(), "escapes-marker-"));
for (const attempt of attempts) {
  if (kind === "sandboxed" || attempt.control === "harmless") results[attempt.name] = await tryOne(attempt);
}
rmdirSync(marker);
process.stdout.write(JSON.stringify(results), () => process.exit(0));

async function tryOne(attempt: Attempt) {
  const fixture = await openFixture(descriptorFile);
  const { root, second, home, agentHome } = fixture;
  const policy = sandboxPolicy({
    mode: kind === "sandboxed" ? (attempt.mode ?? "workspace-write") : "danger-full-access",
    root,
    writableRoots: [second],
    network: attempt.network ?? "off",
    hidden: [...hiddenByDefault(home, agentHome), join(root, "hidden-inside")],
  });
  const env = toolEnvironment(process.env, { home });
  const workspace = await openWorkspace(policy, { serverProgram, env, incarnation: "escape" });
  try {
    const told = await bash(workspace, attempt.script(fixture), { timeoutMs: 20_000 });
    return {
      succeeded: attempt.succeeded(fixture, told),
      said: `${JSON.stringify(told.result)} ${told.all.slice(0, 2000)}`,
    };
  } finally {
    await workspace.close();
    fixture.remove();
  }
}
