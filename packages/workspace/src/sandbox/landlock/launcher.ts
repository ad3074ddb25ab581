// The program that restricts itself by the plan on descriptor 3 and then execs the workspace server.
// Landlock restricts threads, and Node has several before the first line runs. Serving in this process would leave those
// unrestricted; a worker thread would leave the main thread unrestricted. After execve every thread is restricted, for
// file tools and commands alike, and the server is the same one that bubblewrap runs.
import { closeSync, readFileSync, writeSync } from "node:fs";
import { type Confinement, openKernel } from "./kernel.ts";
import { minVersion } from "./versions.ts";

/** What the host writes to descriptor 3, as JSON. */
export interface LaunchPlan extends Omit<Confinement, "filter"> {
  /** In base64; null if there is none for this architecture. */
  filter: string | null;
  goal: { kind: "become"; argv: string[]; env: Record<string, string> } | { kind: "tell-version" };
}

const planDescriptor = 3;
launch();

function launch(): void {
  const { goal, rules, network, filter } = JSON.parse(readFileSync(planDescriptor, "utf8")) as LaunchPlan;
  closeSync(planDescriptor);
  const kernel = openKernel();
  const version = kernel.landlockVersion();
  if (version < minVersion) {
    throw new Error(`Landlock version ${minVersion} is needed; this kernel offers ${version || "none"}.`);
  }
  kernel.confine({ rules, network, filter: filter === null ? undefined : Buffer.from(filter, "base64") });
  if (goal.kind === "become") kernel.become(goal.argv, goal.env);
  else writeSync(1, String(version));
}
