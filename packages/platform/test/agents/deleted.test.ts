// Deleted agents, whose ids may be chosen again.
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { deleteAgent } from "../../src/agents/routes/archive.ts";
import { testServer } from "../harness/platform.ts";

test("an agent that another team creates under the id of a deleted one keeps its workspace", async () => {
  const server = await testServer({ roles: ["api", "runner"] });
  onTestFinished(server.close);
  const agentId = `bc-${randomUUID()}`;
  const create = async (key: string, text: string) => {
    expect(await server.call(key, "POST", "/v1/agents", { agentId, prompt: { text } })).toMatchObject({ status: 200 });
    await eventually(async () =>
      expect((await server.call(key, "GET", `/v1/agents/${agentId}`)).body).toMatchObject({ status: "IDLE" }),
    );
  };
  const workspacesDirectory = join(server.platform.settings.dataDirectory, "workspaces");
  const files = () => readdirSync(workspacesDirectory, { recursive: true, encoding: "utf8" });
  await create(await server.key(), "create former.txt containing former");
  expect(files().filter((path) => path.endsWith("former.txt"))).toHaveLength(1);
  const other = await server.key({ team: "other" });
  const unused = () => Promise.reject(new Error("not needed"));
  await deleteAgent(
    server.platform,
    {
      open: unused,
      find: unused,
      list: unused,
      directories: () => expect.fail("not needed"),
      replace: unused,
      setAside: unused,
      // A removal that is slow: meanwhile the id is free.
      async remove(directory) {
        await create(other, "create kept.txt containing kept");
        await rm(join(workspacesDirectory, directory), { recursive: true });
      },
    },
    agentId,
  );
  expect(files().filter((path) => /(?:former|kept)\.txt$/.test(path))).toEqual([expect.stringMatching(/kept\.txt$/)]);
});
