// Mentions in comments: who may start an agent with one, who continues one, and what is never a mention.
import { execFileSync } from "node:child_process";
import { call } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { readMention } from "../../src/automations/inbound/mention-text.ts";
import { openRunHarness, type RunHarness } from "../runs/run-harness.ts";

test.each<[string, string, string | null]>([
  ["a line", "@platform fix the test", "fix the test"],
  ["any case, with a colon", "@Platform: fix it", "fix it"],
  ["the name that GitHub shows", "@platform[bot] fix it", "fix it"],
  ["within a sentence", "could you, @platform, look?", "could you, look?"],
  ["another name that begins alike", "@platform-team look", null],
  ["an address", "mail ada@platform now", null],
  ["a quotation", "> @platform fix it\nI agree", null],
  ["code", "type `@platform fix it`", null],
  ["a block of code", "```\n@platform fix it\n```", null],
  ["what readers do not see", "nice <!-- @platform fix it -->", null],
  ["nothing that is asked", "@platform", null],
  ["the switch of the automatic fix", "@platform autofix off", null],
])("a mention in %s", (_, text, asked) => {
  expect(readMention({ event: "pull_request.comment", text }, "platform")).toBe(asked);
});

test("the text of a pull request mentions no one", () => {
  expect(readMention({ event: "pull_request.opened", text: "@platform fix it" }, "platform")).toBeNull();
});

test("on the embedded host a mention starts an agent on the pull request, its answer is a comment, and a second mention continues it", async () => {
  const answer = (body: string) => call("mcp__platform__comment_on_pull_request", { number: 1, body });
  const harness = await openRunHarness({
    replies: [
      call("exec_command", { cmd: "echo better > a.txt" }),
      answer("Done. @platform never again"),
      { messages: ["Done."] },
      answer("Done again."),
      { messages: ["Done again."] },
    ],
    settings: { roles: ["api", "runner", "scheduler"] },
  });
  const { client, fixture } = harness;
  const { db } = fixture.platform;
  await harness.repository("shop", { "a.txt": "a\n" });
  await openPull(harness, "shop", "topic");
  const comments = async () =>
    (await client.getJson<{ items: { author: string; body: string }[] }>("/git/shop/pulls/1/comments")).items;
  const ended = async () => {
    const query = db.selectFrom("runs").select("agent_id").where("status", "=", "FINISHED");
    return (await query.orderBy("number").execute()).map(({ agent_id }) => agent_id);
  };
  const mention = (body: string) => client.post("/git/shop/pulls/1/comments", { body });
  await mention("@platform make it better");
  await expect.poll(ended).toHaveLength(1);
  const [agentId = ""] = await ended();
  await mention("@platform and again");
  await expect.poll(ended).toEqual([agentId, agentId]);
  // The platform and the agent write independently of each other.
  const by = async (author: string) =>
    (await comments()).filter((comment) => comment.author === author).map(({ body }) => body);
  const started = `Started: ${await publicAddress(harness)}/agents/${agentId}`;
  await expect.poll(() => by("platform")).toEqual([started]);
  expect(await by("user:1")).toEqual(["@platform make it better", "@platform and again"]);
  expect(await by(`agent:${agentId}`)).toEqual(["Done. @platform never again", "Done again."]);
  expect(await comments()).toHaveLength(5);
  const kept = () => db.selectFrom("mentions").select(["status", "is_new_agent"]).orderBy("created_at").execute();
  await expect.poll(kept).toEqual([
    { status: "started", is_new_agent: true },
    { status: "started", is_new_agent: false },
  ]);
});

const publicAddress = async ({ client }: RunHarness): Promise<string> =>
  new URL((await client.getJson<{ url: string }>("/git/shop/pulls/1")).url).origin;

/** A branch with its pull request, as a person would make them. */
async function openPull({ client, dataDirectory, fixture }: RunHarness, name: string, head: string): Promise<void> {
  const { id } = await fixture.platform.db
    .selectFrom("hosted_repositories")
    .select("id")
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], {
      ...{ encoding: "utf8", cwd: `${dataDirectory}/repositories/${id}.git` },
    }).trim();
  git("update-ref", `refs/heads/${head}`, git("commit-tree", "main^{tree}", "-p", "main", "-m", "more"));
  expect((await client.post(`/git/${name}/pulls`, { title: head, head })).status).toBe(201);
}
