// Commands that keep running: the model lists and ends them, with everything they started.
import { call, outputsIn, type Reply, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";

/** Seconds that no other process of the machine sleeps. */
const [first, second, third] = [1, 2, 3].map((number) => `${70_000_000 + process.pid}${number}`);

/** Bash, a child, a grandchild and one that has left the session and ignores SIGTERM. */
const tree = `trap '' TERM; setsid bash -c "trap '' TERM; exec sleep ${first}" & (sleep ${second} & sleep ${third}) & echo started; wait`;
const left = `cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c '^${70_000_000 + process.pid}[123]$'`;

const steps: Reply[] = [
  call("exec_command", { cmd: tree, yield_time_ms: 1_000 }),
  call("list_sessions", {}),
  call("exec_command", { cmd: `until [ $(${left}) = 3 ]; do sleep 0.05; done; echo three`, yield_time_ms: 30_000 }),
  call("kill_session", { session_id: 4_000 }),
  call("exec_command", { cmd: `until [ $(${left}) = 0 ]; do sleep 0.05; done; echo none`, yield_time_ms: 30_000 }),
  call("list_sessions", {}),
  replyWith("Ended."),
];

test.each(["workspace-write", "danger-full-access"])(
  "kill_session ends the whole tree in %s, and a resumed thread knows",
  async (mode) => {
    const script = [
      ...steps,
      call("list_sessions", {}),
      call("kill_session", { session_id: 4_000 }),
      replyWith("Known."),
    ];
    const harness = await openHarness({ replies: script });
    expect((await harness.run(["exec", "-s", mode, "watch it"])).stdout).toBe("Ended.\n");
    const outputs = outputsIn(harness.requests()[6]?.body as object);
    expect(JSON.parse(outputs[1] ?? "")).toEqual({
      sessions: [{ session_id: 4_000, command: tree, state: "running" }],
    });
    expect(outputs[2]).toMatch(/Process exited with code 0\n[\s\S]*three/);
    expect(outputs[3]).toContain("Process exited with code 137");
    expect(outputs[4]).toMatch(/Process exited with code 0\n[\s\S]*none/);
    expect(JSON.parse(outputs[5] ?? "")).toEqual({ sessions: [] });

    expect((await harness.run(["exec", "resume", "--last", "-s", mode, "and now?"])).stdout).toBe("Known.\n");
    const later = outputsIn(harness.requests()[9]?.body as object);
    expect(JSON.parse(later[6] ?? "")).toEqual({ sessions: [] });
    expect(later[7]).toContain("There is no running command with session id 4000");
  },
);
