import { call, say } from "@agentcli/testkit";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { openRunBench } from "./run-bench.ts";

test("a run outlives connections to the database that break again and again, and nothing of it is doubled", async () => {
  const steps = 12;
  const shells = Array.from({ length: steps }, (_, step) =>
    call("exec_command", { cmd: `echo step ${step} >> steps.txt` }),
  );
  const { client, spine, requests, records } = await openRunBench({
    replies: [
      ...shells,
      call("exec_command", { cmd: "cat steps.txt" }),
      say("Through.", { deltas: 20, deltaDelayMs: 5 }),
    ],
  });
  const ids = await client.create({ prompt: { text: "go" } });
  const cuts: Promise<unknown>[] = [];
  const breaking = setInterval(() => {
    const cut = sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query not like '%listen%'
    `.execute(spine.platform.db);
    cuts.push(cut.catch(() => {}));
  }, 40);
  await expect
    .poll(
      () =>
        client.read(ids).then(
          ({ status }) => status,
          () => "unknown",
        ),
      { timeout: 60_000 },
    )
    .toBe("FINISHED");
  clearInterval(breaking);
  await Promise.all(cuts);
  // A connection that was just cut is noticed by whoever uses it next.
  await expect.poll(() => client.stream(ids).then(() => "read", String), { timeout: 60_000 }).toBe("read");
  const frames = await client.stream(ids);
  expect(frames.at(-2)?.data).toMatchObject({ status: "FINISHED", text: "Through." });
  const output = Array.from({ length: steps }, (_, step) => `step ${step}\\n`).join("");
  expect(JSON.stringify(frames)).toContain(output);
  const settled = (await records(ids.agentId)).filter(({ type }) => type === "tool.settled");
  expect(settled).toHaveLength(steps + 1);
  expect(requests()).toHaveLength(steps + 2);
});
