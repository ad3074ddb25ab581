import { openFileStore } from "@agentcli/host/sessions";
import { temporaryDirectory } from "@agentcli/testkit";
import { sessionStoreContract } from "@agentcli/testkit/contracts";
import { onTestFinished } from "vitest";

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
