import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  eventually,
  expectNoProcesses,
  jsonLines,
  killAtWrite,
  type Reply,
  replyWith,
  sampleOf,
  waitForExit,
} from "@agentcli/testkit";
import { type Harness, openHarness, sessionFiles } from "@agentcli/testkit/cli";
import { describe, expect, test } from "vitest";

const role = (name: string) =>
  `name = "${name}"\ndescription = "The ${name} one"\ndeveloper_instructions = "ROLE-${name}"\nnickname_candidates = ["${name}"]\n`;
const files = Object.fromEntries(
  ["left", "right", "leaf"].map((name) => [`.agentcli/agents/${name}.toml`, role(name)]),
);

/** Each line must be written exactly once. An agent that is to be interrupted waits for a file after its line. */
const work = (line: string, waits: "waits" | "goes on") =>
  `echo ${line} >> log.txt${waits === "waits" ? "; while [ ! -e go.txt ]; do sleep 0.05; done" : ""}`;

const calls = (id: string, ...wanted: [string, Record<string, string | string[]>][]): Reply => ({
  calls: wanted.map(([name, args], index) => ({ name, arguments: args, callId: `call_${id}_${index}` })),
});
const after = (id: string, reply: Reply): Reply => ({ ...reply, when: { bodyIncludes: `"call_${id}_0"` } });
const first = (name: string, reply: Reply): Reply => ({ ...reply, when: { bodyIncludes: `ROLE-${name}` } });

/** Two sub-agents, one with a child of its own, one with a second turn. Replies depend only on earlier calls. */
const tree = (waits: "waits" | "goes on"): Reply[] => [
  after("root6", replyWith("Done.")),
  after("root5", calls("root6", ["close_agent", { target: "left" }])),
  after("root4", calls("root5", ["wait_agent", { targets: ["right"] }])),
  after("root3", calls("root4", ["send_input", { target: "right", message: "do the second part" }])),
  after("root2", calls("root3", ["wait_agent", { targets: ["right"] }])),
  after("root1", calls("root2", ["wait_agent", { targets: ["left"] }])),
  after("leaf1", replyWith("Leaf.")),
  first("leaf", calls("leaf1", ["exec_command", { cmd: work("leaf", waits) }])),
  after("left3", replyWith("Left.")),
  after("left2", calls("left3", ["wait_agent", { targets: ["leaf"] }])),
  after("left1", calls("left2", ["spawn_agent", { message: "be a leaf", agent_type: "leaf" }])),
  first("left", calls("left1", ["exec_command", { cmd: work("left", "goes on") }])),
  after("right2", replyWith("Right again.")),
  {
    ...calls("right2", ["exec_command", { cmd: work("again", "goes on") }]),
    when: { bodyIncludes: "do the second part" },
  },
  after("right1", replyWith("Right.")),
  first("right", calls("right1", ["exec_command", { cmd: work("right", waits) }])),
  calls(
    "root1",
    ["spawn_agent", { message: "go left", agent_type: "left" }],
    ["spawn_agent", { message: "go right", agent_type: "right" }],
  ),
];
const lines = ["left", "leaf", "right", "again"];

const startHarness = (waits: "waits" | "goes on") =>
  openHarness({
    files,
    replies: { replies: tree(waits), repeat: "always" },
    config: "[agents]\nmax_depth = 2\n",
  });
const start = ["exec", "-s", "workspace-write", "grow a tree"];

type Line = { record: { type: string; [key: string]: unknown } };
/** Complete lines only. */
const threadsOf = ({ home }: Harness) =>
  sessionFiles(home)
    .map((path) => readFileSync(path, "utf8"))
    .map((text) => jsonLines(text.slice(0, text.lastIndexOf("\n") + 1)) as Line[])
    .map((records) => records.map(({ record }) => record));
const logOf = ({ repository }: Harness): string[] => {
  const path = join(repository, "log.txt");
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
};

/** What must hold after a resume, wherever the first run was killed. */
function expectExactlyOnce(harness: Harness): void {
  const threads = threadsOf(harness);
  const log = logOf(harness);
  expect(new Set(log).size, `done twice: ${log}`).toBe(log.length);
  expect(threads.map(([created]) => created?.role ?? "main").sort()).toEqual(["leaf", "left", "main", "right"]);
  const unknown = threads
    .flat()
    .filter(({ type, outcome }) => type === "tool.settled" && (outcome as { status: string }).status === "interrupted");
  // Every call whose outcome is not unknown happened exactly once.
  expect(log.length).toBeGreaterThanOrEqual(lines.length - unknown.length);
  for (const records of threads)
    expect(records.at(-1)).toMatchObject({ type: "turn.ended", end: { status: "completed" } });
}

describe("kill -9 at a write of any session file of a tree, then resume --last", () => {
  // The minimum of an undisturbed run: a child that ends before its parent waits adds a write.
  const writes = 55;
  const ways = ["before", "torn", "after"] as const;
  const all = Array.from({ length: writes }, (_, index) => index + 1).flatMap((at) =>
    ways.map((when) => ({ at, when })),
  );

  test("an undisturbed run makes as many writes as the sweep covers", async () => {
    const tidy = await startHarness("goes on");
    const counted = join(tidy.home, "writes");
    const result = await tidy.run(start, { nodeArguments: ["--require", killAtWrite], env: { KILL_LOG: counted } });
    expect(result.stdout, result.stderr).toBe("Done.\n");
    expect(logOf(tidy).sort()).toEqual([...lines].sort());
    expectExactlyOnce(tidy);
    expect(Math.abs(Number(readFileSync(counted, "utf8")) - writes)).toBeLessThanOrEqual(2);
  });

  test.each(sampleOf(all, { every: 25 }))(
    "killed $when write $at: all of them finish, nothing is done twice",
    async ({ at, when }) => {
      const crashed = await startHarness("goes on");
      const env = { KILL_AT: String(at), KILL_WHEN: when };
      const { signal } = await crashed.run(start, { nodeArguments: ["--require", killAtWrite], env });
      const isBegun = at > 1 || when === "after";
      const main = threadsOf(crashed).find(([created]) => created && created.parentId === undefined);
      const isOver = main?.at(-1)?.type === "turn.ended";
      if (signal === "SIGKILL") {
        const resumed = await crashed.run(["exec", "resume", "--last"]);
        expect(resumed.code, resumed.stderr).toBe(isBegun && !isOver ? 0 : 2);
        if (isBegun && !isOver) expect(resumed.stdout).toBe("Done.\n");
      }
      if (isBegun) expectExactlyOnce(crashed);
    },
  );
});

const repliesOf = (harness: Harness): number =>
  threadsOf(harness)
    .flat()
    .filter(({ type }) => type === "model.replied").length;

describe("kill -9 in the middle of running sub-agents and their own", () => {
  async function crashed(): Promise<Harness> {
    const harness = await startHarness("waits");
    const child = harness.start(start);
    await eventually(() => ["left", "leaf", "right"].every((line) => logOf(harness).includes(line)));
    // A reply that is on its way is not yet counted.
    await eventually(() => repliesOf(harness) === harness.requests().length);
    child.kill("SIGKILL");
    await waitForExit(child);
    await expectNoProcesses(harness.repository);
    return harness;
  }

  test("resume restores all of them, by id and by name, and reports unknown outcomes to each", async () => {
    const harness = await crashed();
    const before = harness.requests().length;
    const { stdout, stderr } = await harness.run(["exec", "resume", "--last"]);
    expect(stdout, stderr).toBe("Done.\n");
    expect(logOf(harness).sort()).toEqual([...lines].sort());
    expectExactlyOnce(harness);
    const requests = harness
      .requests()
      .slice(before)
      .filter(({ body }) => JSON.stringify(body).includes("The outcome of this call is unknown"));
    // The leaf, and the right one in both of its turns.
    expect(new Set(requests.map(({ body }) => (body as { prompt_cache_key: string }).prompt_cache_key)).size).toBe(2);
  });

  test("what they spent before counts from the first request", async () => {
    const harness = await crashed();
    const before = harness.requests().length;
    const { code } = await harness.run(["exec", "resume", "--last", "--budget", `turns=${before}`]);
    expect(code).toBe(5);
    expect(harness.requests()).toHaveLength(before);
  });

  test("another prompt leaves them stopped, but listed", async () => {
    const harness = await crashed();
    const { stdout, stderr } = await harness.run(["exec", "resume", "--last", "something else"]);
    expect(stdout, stderr).toBe("Done.\n");
    expect(JSON.stringify(harness.requests().at(-1)?.body)).toContain("interrupted");
    const ends = threadsOf(harness).map((records) => [
      records[0]?.role ?? "main",
      ...records.flatMap(({ type, end }) => (type === "turn.ended" ? [(end as { status: string }).status] : [])),
    ]);
    // The script continues where it was and gives the right agent its second turn.
    expect(ends.sort()).toEqual([
      ["leaf", "cancelled"],
      ["left", "cancelled"],
      ["main", "cancelled", "completed"],
      ["right", "cancelled", "completed"],
    ]);
  });
});
