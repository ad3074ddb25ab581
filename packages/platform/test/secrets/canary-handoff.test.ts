// A secret that a hostile model puts where work is handed over: commits, branches, tags, artifacts, pull requests and failures of tools.
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { base64, formsOf } from "./canary-forms.ts";
import { expectNowhere, openWithSecrets, pushedObjects, type SecretHarness } from "./canary-harness.ts";

/** A branch and a file can be called so. */
const value = "canary-91ab7c=token";
const forms = formsOf(value);
const shell = (cmd: string) => call("exec_command", { cmd });

/** Those that were pushed, or are in the text of a pull request. */
async function formsHandedOver({ client, fixture }: SecretHarness): Promise<string[]> {
  const pushed = pushedObjects(fixture.platform.settings.dataDirectory);
  const pulls = (await client.get("/v1/repositories/shop/pulls")).text;
  return forms.filter((form) => pushed.includes(form) || pulls.includes(form));
}

test("a secret in a commit message is not pushed, nor is a branch or a tag with it; artifacts and failed calls do not show it", async () => {
  const commit = 'git checkout -qb "by-$RUNTIME"; echo fine > a.txt; git add a.txt; git commit -qm "Use $RUNTIME"';
  const replies = [
    shell(
      `${commit}; git tag -m "$RUNTIME" "tag-$RUNTIME"; git branch "other-$RUNTIME"; git log --all --decorate; git status`,
    ),
    shell(
      'cd "$PLATFORM_ARTIFACTS_DIR"; echo fine > fine.txt; echo fine > "$RUNTIME.txt"; mkdir "$RUNTIME"; cp fine.txt "$RUNTIME"',
    ),
    call("read_file", { path: `missing-${value}` }),
    call("grep_files", { pattern: `(${value}` }),
    call(`no_such_tool_${value}`, { text: value }),
    shell('git push origin "by-$RUNTIME" "tag-$RUNTIME"'),
    replyWith(`Used ${value}.`),
    shell('git commit -q --amend -m "Clean"'),
    replyWith(`Cleaned ${value}.`),
  ];
  const harness = await openWithSecrets({ replies }, { RUNTIME: value });
  const { client } = harness;
  const url = await harness.repository("shop", { "b.txt": "of the shop" });
  const ids = await client.create({ prompt: { text: "go" }, repos: [{ url }], autoCreatePR: true });
  expect(await client.waitForRun(ids)).toMatchObject({
    status: "ERROR",
    error: { code: "secret_in_commit", message: expect.stringContaining("RUNTIME is in the message of commit") },
  });
  await expectNowhere(harness, ids, forms);
  expect(await client.read(ids)).toMatchObject({
    unsavedArtifacts: ["artifacts/[REDACTED]/fine.txt", "artifacts/[REDACTED].txt"].map((path) => ({
      ...{ path, reason: "secret", message: "Its name contains the secret RUNTIME. Have the agent rename it." },
    })),
  });
  const { items } = await client.getJson<{ items: { path: string }[] }>(`/v1/agents/${ids.agentId}/artifacts`);
  expect(items.map(({ path }) => path)).toEqual(["artifacts/fine.txt"]);
  expect(await formsHandedOver(harness)).toEqual([]);

  const next = await client.followUp(ids.agentId, "again");
  expect(await client.waitForRun(next)).toMatchObject({ status: "FINISHED" });
  const sent = await expectNowhere(harness, next, forms);
  for (const text of ["by-[REDACTED]", "tag-[REDACTED]", "missing-[REDACTED]"]) expect(sent).toContain(text);
  expect(pushedObjects(harness.dataDirectory)).toContain("Clean");
  expect(await formsHandedOver(harness)).toEqual([]);
});

test("a commit and a pull request that are named after the result have the secret redacted in title and text", async () => {
  const result = `Fixed with ${value}. It is ${base64(value)}.\n\nAnd ${[...value].reverse().join("")}.`;
  const replies = [shell("echo fine > a.txt"), replyWith(result)];
  const harness = await openWithSecrets({ replies }, { RUNTIME: value });
  const { client } = harness;
  const url = await harness.repository("shop", { "b.txt": "of the shop" });
  const ids = await client.create({ prompt: { text: "go" }, repos: [{ url }], autoCreatePR: true });
  expect(await client.waitForRun(ids)).toMatchObject({ status: "FINISHED" });
  await expectNowhere(harness, ids, forms);
  const pulls = (await client.get("/v1/repositories/shop/pulls")).text;
  expect(pulls).toContain("Fixed with [REDACTED]");
  expect(pushedObjects(harness.dataDirectory)).toContain("Fixed with [REDACTED]");
  expect(await formsHandedOver(harness)).toEqual([]);
});
