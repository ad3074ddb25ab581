// A server whose environments are built in machines, and whose agents begin with those builds.
import type { Build, Run } from "@agentcli/protocol/api";
import { call, type Reply, replyWith } from "@agentcli/testkit";
import { expect } from "vitest";
import { openMachines } from "../../src/machines/index.ts";
import { localMachines } from "../harness/settings.ts";
import { type EnvironmentHarness, openEnvironmentHarness } from "./environment-harness.ts";

const shell = (cmd: string) => call("exec_command", { cmd });

/** Every run executes one command. */
export async function openWithEnvironments(command: string): Promise<EnvironmentHarness> {
  const replies: Reply[] = Array.from({ length: 8 }, () => [shell(command), replyWith("Done.")]).flat();
  return openEnvironmentHarness({ executor: "machines", replies, settings: { machines: localMachines } });
}

export async function built(harness: EnvironmentHarness, environmentId: string): Promise<Build> {
  return harness.ended((await harness.builds(environmentId))[0] ?? expect.fail("no build"));
}

/** The output of its command, and the run. */
export async function runOf(
  { client }: EnvironmentHarness,
  body: object,
): Promise<{ text: string; run: Run; agentId: string }> {
  const ids = await client.create({ prompt: { text: "begin" }, ...body });
  return outcome(client, ids);
}

export async function outcome(client: EnvironmentHarness["client"], ids: { agentId: string; runId: string }) {
  const frames = await client.stream(ids);
  const text = JSON.stringify(frames.filter(({ event }) => event === "tool_call"));
  return { text, run: (await client.read(ids)) as Run, agentId: ids.agentId };
}

export const hasMachines = async ({ fixture }: EnvironmentHarness): Promise<boolean> =>
  (await (await openMachines(fixture.platform.settings).provider()).capabilities()).obstacle === null;
