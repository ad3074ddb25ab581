// The program that confines itself as descriptor 3 says and then becomes another: the workspace server.
// Landlock binds threads, and Node has several before our first line runs. Confining this process and serving in it
// would leave those unbound; a worker thread would leave the whole main thread. A program begun afterwards has bound
// threads only, file tools and commands alike, and the server stays the very one that bubblewrap runs.
import { closeSync, readFileSync, writeSync } from "node:fs";
import { type Confinement, openKernel } from "./kernel.ts";
import { oldestUsefulVersion } from "./rights.ts";

/** What the host writes to descriptor 3, as JSON. */
export interface LaunchPlan extends Omit<Confinement, "filter"> {
  /** In base 64; null where there is none for this processor. */
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
  if (version < oldestUsefulVersion) {
    throw new Error(`Landlock version ${oldestUsefulVersion} is needed; this kernel offers ${version || "none"}.`);
  }
  kernel.confine({ rules, network, filter: filter === null ? undefined : Buffer.from(filter, "base64") });
  if (goal.kind === "become") kernel.become(goal.argv, goal.env);
  else writeSync(1, String(version));
}
