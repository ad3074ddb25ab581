// The answer to the model when a command meets a limit: which one, how long, how to get more, and where the output is.
import { call, type Reply, replyWith } from "@agentcli/testkit";
import { openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { describe, expect, test } from "vitest";

const outputsAfter = async (replies: Reply[], flags: string[] = []) => {
  const { run, requests } = await openHarness({ replies });
  await run(["exec", ...flags, "go on"]);
  return toolOutputs(requests().at(-1));
};

test("a command that is ended at its time limit says which, how long it ran, and how to get more", async () => {
  const [output] = await outputsAfter(
    [call("exec_command", { cmd: "echo begun; sleep 600" }), replyWith("Seen.")],
    ["-c", "limits.tool=1s"],
  );
  expect(output).toMatch(
    /Process exited with code 124\nThe command reached the time limit for tools and was ended: it ran for \d+\.\d seconds, the limit is 1\.0 seconds \(limits\.tool\)\. .*-c limits\.tool=1m/,
  );
  expect(output).toMatch(/Output:\nbegun\n$/);
});

test("a command that still runs says how long the call waited, and how to wait longer", async () => {
  const outputs = await outputsAfter([
    call("exec_command", { cmd: "read line", yield_time_ms: 250 }),
    call("write_stdin", { session_id: 4000, chars: "x", yield_time_ms: 1 }),
    replyWith("Seen."),
  ]);
  const advice =
    "use write_stdin with session_id 4000, empty chars and yield_time_ms up to 300000. It is ended after 600.0";
  expect(outputs[0]).toContain(`Still running after yield_time_ms (250, at most 30000). To wait longer, ${advice}`);
  expect(outputs[1]).toContain(`Still running after yield_time_ms (1, at most 30000). To wait longer, ${advice}`);
});

test("the tool states its default limits", async () => {
  const { run, requests } = await openHarness({ replies: [replyWith("Hello.")] });
  await run(["exec", "hello"]);
  expect(JSON.stringify(requests()[0])).toMatch(/10 seconds by default, at most 30.*ended after 10 minutes/);
});

describe("output past the cap", () => {
  test("is named with its true size and is in a file that the model can read", async () => {
    const outputs = await outputsAfter([
      call("exec_command", { cmd: "seq 1 2000000" }),
      call("exec_command", { cmd: "cat /tmp/agent-output-*/1.txt | md5sum; seq 1 2000000 | md5sum" }),
      replyWith("Seen."),
    ]);
    expect(outputs[0]).toMatch(
      /Output size: 2,000,000 lines, 14\.9 MB; the first [\d,]+ and the last [\d,]+ lines are shown\. All output of this process is in \/tmp\/agent-output-\w+\/1\.txt: read it with read_file/,
    );
    expect(outputs[0]).toContain("Total output lines: 2000000");
    const [kept, expected] = (outputs[1] ?? "").split("Output:\n")[1]?.trim().split("\n") ?? [];
    expect(kept).toBe(expected);
  });

  test("of a command that goes on is in one file, also if only a later call asks for less", async () => {
    const outputs = await outputsAfter([
      call("exec_command", { cmd: "read line; seq 1 200", yield_time_ms: 250 }),
      call("write_stdin", { session_id: 4000, chars: "\n", yield_time_ms: 30_000, max_output_tokens: 20 }),
      call("exec_command", { cmd: "wc -l < /tmp/agent-output-*/1.txt" }),
      replyWith("Seen."),
    ]);
    expect(outputs[0]).not.toContain("Output size");
    expect(outputs[1]).toMatch(/Output size: 200 lines, 692 bytes; .* All output of this process is in /);
    expect(outputs[2]).toMatch(/Output:\n200\n$/);
  });
});
