import { call, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";

interface Sent {
  tools: { name: string; description: string }[];
  messages: { content: { type: string; [field: string]: unknown }[] }[];
}

test("thinking on the Anthropic wire is sent back with its signature, also after a resume", async () => {
  const { run, requests } = await openHarness({
    wireApi: "anthropic",
    replies: [
      { ...call("exec_command", { cmd: "exit 4" }), reasoning: { summary: ["Try it."] } },
      replyWith("It fails."),
      replyWith("Still."),
    ],
  });
  expect(await run(["exec", "run it"])).toMatchObject({ code: 0, stdout: "It fails.\n" });
  expect(await run(["exec", "resume", "--last", "and now?"])).toMatchObject({ code: 0, stdout: "Still.\n" });
  // The scripted server refuses a signature that does not belong to the text.
  const sent = requests().map(({ body }) => body as Sent);
  expect(sent).toHaveLength(3);
  for (const { messages } of sent.slice(1)) {
    const blocks = messages.flatMap(({ content }) => content);
    expect(blocks.find(({ type }) => type === "thinking")).toMatchObject({ thinking: "Try it." });
    expect(blocks.find(({ type }) => type === "tool_result")).toMatchObject({ is_error: true });
  }
  const tool = (name: string) => sent[0]?.tools.find((offered) => offered.name === name);
  expect(tool("apply_patch")?.description).toContain('start: "*** Begin Patch"');
  expect(tool("edit_file")).toBeDefined();
});
