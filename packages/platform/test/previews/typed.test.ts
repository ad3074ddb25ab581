// What the audit log says of people who type into terminals.
import { expect, test } from "vitest";
import { openTypedLog, type Typist } from "../../src/previews/typed.ts";
import type { MachineInUse } from "../../src/runs/index.ts";

const minuteMs = 60_000;

function openLog(fails = () => false) {
  const clock = { nowMs: 0 };
  const recorded: string[] = [];
  const record = async ({ actor, terminal }: Typist) => {
    if (fails()) throw new Error("no database");
    recorded.push(`${actor} ${terminal}`);
  };
  const log = openTypedLog(record, () => clock.nowMs);
  const type = (machine: MachineInUse, actor: string, terminal: string) =>
    log(machine, { agentId: "bc-1", terminal, actor });
  return { clock, recorded, type };
}

const machine = () => ({}) as MachineInUse;

test("a burst of keys is one entry for each person and terminal, and for each run that uses the machine", async () => {
  const { recorded, type } = openLog();
  const [first, second] = [machine(), machine()];
  const burst = Array.from({ length: 50 }, () => type(first, "user:1", "shell"));
  await Promise.all([...burst, type(first, "user:1", "log"), type(first, "user:2", "shell")]);
  await type(second, "user:1", "shell");
  expect(recorded).toEqual(["user:1 shell", "user:1 log", "user:2 shell", "user:1 shell"]);
});

test("who goes on typing for minutes has further entries", async () => {
  const { clock, recorded, type } = openLog();
  const used = machine();
  for (; clock.nowMs < 11 * minuteMs; clock.nowMs += minuteMs / 6) await type(used, "user:1", "shell");
  expect(recorded).toHaveLength(3);
});

test("while there can be no entry, nothing is typed", async () => {
  let isDown = true;
  const { recorded, type } = openLog(() => isDown);
  const used = machine();
  const both = await Promise.allSettled([type(used, "user:1", "shell"), type(used, "user:1", "shell")]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  isDown = false;
  await type(used, "user:1", "shell");
  expect(recorded).toEqual(["user:1 shell"]);
});
