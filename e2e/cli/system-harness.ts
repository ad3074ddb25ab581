import { replyWith, temporaryDirectory } from "@agentcli/testkit";
import { type Harness, type HarnessOptions, openHarness } from "@agentcli/testkit/cli";
import { onTestFinished } from "vitest";

export const hello = { replies: { replies: [replyWith("Hello.")], repeat: "last" as const } };

/** A harness with a system directory and a directory outside of the repository. */
export async function openSystemHarness(
  options: HarnessOptions = hello,
): Promise<Harness & { system: string; elsewhere: string }> {
  const harness = await openHarness(options);
  const system = await temporaryDirectory();
  const elsewhere = await temporaryDirectory();
  onTestFinished(system.remove);
  onTestFinished(elsewhere.remove);
  const run: Harness["run"] = (args, more = {}) =>
    harness.run(args, { ...more, env: { AGENT_SYSTEM_DIR: system.path, ...more.env } });
  return { ...harness, run, system: system.path, elsewhere: elsewhere.path };
}
