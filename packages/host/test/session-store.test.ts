import { writeFileSync } from "node:fs";
import { openFileStore } from "@agentcli/host/sessions";
import { temporaryDirectory } from "@agentcli/testkit";
import { sessionStoreContract } from "@agentcli/testkit/contracts";
import { expect, onTestFinished, test } from "vitest";

sessionStoreContract("the store of session files", async () => {
  const { path: home, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const open = () => {
    const store = openFileStore(home);
    onTestFinished(() => store.close());
    return store;
  };
  return {
    store: open(),
    threadId: "0198c0de-0000-7000-8000-000000000001",
    otherThreadId: "0198c0de-0000-7000-8000-000000000002",
    openReader: open,
    openRival: open,
  };
});

test.each([undefined, null, "text"])("a damaged approval with %j as its data can be read", async (data) => {
  const { path: home, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const store = openFileStore(home);
  onTestFinished(() => store.close());
  const threadId = "0198c0de-0000-7000-8000-000000000003";
  const at = new Date().toISOString();
  store.begin(threadId, [{ seq: 1, at, record: { type: "turn.ended", status: "completed" } as never }]);
  const line = { v: 1, seq: 2, at, record: { type: "noted", kind: "approval", data } };
  writeFileSync(store.path(threadId) ?? expect.fail(), `${JSON.stringify(line)}\n`, { flag: "a" });
  const read: unknown[] = [];
  for await (const records of store.read(threadId)) read.push(...records);
  expect(read).toHaveLength(2);
});
