// The built program on every supported Node. Installs them from the registry: minutes, not seconds.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { call, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let nodes: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  nodes = await temporaryDirectory();
});
afterAll(() => nodes.remove());

describe.each([["18.19.1"], ["20"], ["22"], ["24"]])("on Node %s", (version) => {
  test("a run with commands, a terminal and a patch completes, and resumes", { timeout: 300_000 }, async () => {
    const prefix = join(nodes.path, version);
    execFileSync("npm", ["install", "--no-save", "--ignore-scripts=false", "--prefix", prefix, `node@${version}`], {
      stdio: "ignore",
    });
    const patch = "*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch";
    const replies = [
      call("exec_command", { cmd: "tty", tty: true }),
      call("apply_patch", { input: patch }),
      call("exec_command", { cmd: "cat made.txt" }),
      replyWith("Done."),
      replyWith("Again."),
    ];
    const { events: run } = await openHarness({ replies });
    const node = join(prefix, "node_modules/node/bin/node");
    const { events } = await run(["-s", "workspace-write", "work"], { node });
    expect(events.at(-1)?.type).toBe("turn.completed");
    expect(JSON.stringify(events)).toContain("/dev/pts/");
    expect(JSON.stringify(events)).toContain("made\\n");
    expect((await run(["resume", "--last", "again"], { node })).stdout).toContain("Again.");
  });
});
