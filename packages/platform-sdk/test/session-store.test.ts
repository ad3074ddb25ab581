import { temporaryDirectory } from "@agentcli/testkit";
import { sessionStoreContract } from "@agentcli/testkit/contracts";
import { onTestFinished } from "vitest";
import { sessionsOf } from "../src/local/interrupted.ts";
import { openFileStore } from "../src/local/store/files.ts";

sessionStoreContract("the checkpoints of a local agent", async () => {
  const { path: home, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const agentId = "agent-1";
  const claim = await openFileStore(home).claim(agentId);
  if (claim.kind === "busy") throw new Error("a fresh agent is claimed already");
  onTestFinished(() => claim.release());
  const open = () => sessionsOf(agentId, openFileStore(home));
  return { store: open(), threadId: agentId, otherThreadId: "sub-agent", openReader: open, openRival: open };
});
