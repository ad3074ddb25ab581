// Starts the server restricted by Landlock and the system-call filter, with its own temporary directory.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sandboxedEnvironment } from "../../environment/index.ts";
import { startConfined } from "../confined-process.ts";
import type { SandboxPolicy } from "../policy.ts";
import { showRuntime } from "../runtime.ts";
import { filterOf, type ServerProgram, type StartedSandbox, writableOf } from "../started-sandbox.ts";
import type { LaunchPlan } from "./launcher.ts";
import { planRules } from "./plan.ts";
import { explainLauncherError, launcherPath } from "./probe.ts";

export function startWithLandlock(
  policy: SandboxPolicy,
  { serverProgram, nodePath, env, enter }: ServerProgram,
): StartedSandbox {
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), "agent-sandbox-")));
  const remove = () => rmSync(temporary, { recursive: true, force: true });
  try {
    // No terminals: access to one would be access to those of all users.
    const runtime = { serverProgram, nodePath, path: env.PATH ?? "", terminals: undefined };
    const shown = showRuntime(policy, runtime);
    const filter = filterOf(policy, {
      internetSockets: policy.network === "on" ? "allowed" : "refused",
      ipc: "shared",
    });
    const plan: LaunchPlan = {
      rules: planRules(shown, { temporary, euid: process.geteuid?.() ?? 0 }),
      network: policy.network === "on" ? "on" : "off",
      filter: filter?.toString("base64") ?? null,
      goal: { kind: "become", argv: [nodePath, serverProgram], env: { PATH: serverPath, TMPDIR: temporary } },
    };
    const launcher = launcherPath(serverProgram);
    const confined = startConfined({ ...enter(nodePath, [launcher]), setup: Buffer.from(JSON.stringify(plan)) });
    return {
      process: confined,
      config: {
        env: { ...sandboxedEnvironment(env), TMPDIR: temporary },
        writable: writableOf(policy, temporary),
        orphans: "ended-by-watchdog",
      },
      async close() {
        await confined.end();
        remove();
      },
      explainFailure: explainLauncherError,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

const serverPath = "/usr/local/bin:/usr/bin:/bin";
