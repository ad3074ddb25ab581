// Starts the server confined by Landlock and the system-call filter, with a temporary directory of its own.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startConfined } from "../confined-process.ts";
import { type Enclosure, filterOf, type ServerProgram, writableOf } from "../enclosure.ts";
import { sandboxedEnvironment } from "../environment.ts";
import type { SandboxPolicy } from "../policy.ts";
import { showRuntime } from "../runtime.ts";
import type { LaunchPlan } from "./launcher.ts";
import { planRules } from "./plan.ts";
import { explainLauncher, launcherBeside } from "./try.ts";

export function encloseWithLandlock(
  policy: SandboxPolicy,
  { serverProgram, nodePath, env, enter }: ServerProgram,
): Enclosure {
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), "agent-sandbox-")));
  const remove = () => rmSync(temporary, { recursive: true, force: true });
  try {
    // A terminal of our own could only be had together with everybody else's.
    const runtime = { serverProgram, nodePath, path: env.PATH ?? "", terminals: undefined };
    const shown = showRuntime(policy, runtime);
    const filter = filterOf(policy, policy.network === "on" ? "allowed" : "refused");
    const plan: LaunchPlan = {
      rules: planRules(shown, { temporary, euid: process.geteuid?.() ?? 0 }),
      network: policy.network === "on" ? "on" : "off",
      filter: filter?.toString("base64") ?? null,
      goal: { kind: "become", argv: [nodePath, serverProgram], env: { PATH: serverPath, TMPDIR: temporary } },
    };
    const launcher = launcherBeside(serverProgram);
    const confined = startConfined({ ...enter(nodePath, [launcher]), given: Buffer.from(JSON.stringify(plan)) });
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
      explain: explainLauncher,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

const serverPath = "/usr/local/bin:/usr/bin:/bin";
