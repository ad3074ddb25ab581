import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { eventually, jsonLines, type Reply, say } from "@agentcli/testkit";
import { describe, expect, test } from "vitest";
import { type Desk, desk, ended, sessionFiles } from "./harness.ts";
import { nothingLeft } from "./leftovers.ts";

const killer = fileURLToPath(new URL("../packages/testkit/src/kill-at-write.cjs", import.meta.url));

const role = (name: string) =>
  `name = "${name}"\ndescription = "The ${name} one"\ndeveloper_instructions = "ROLE-${name}"\nnickname_candidates = ["${name}"]\n`;
const files = Object.fromEntries(
  ["left", "right", "leaf"].map((name) => [`.agentcli/agents/${name}.toml`, role(name)]),
);

/** Each line is written once, or it shows. Whoever is to be interrupted waits for a file behind its line. */
const work = (line: string, waits: "waits" | "goes on") =>
  `echo ${line} >> log.txt${waits === "waits" ? "; while [ ! -e go.txt ]; do sleep 0.05; done" : ""}`;

const calls = (id: string, ...wanted: [string, Record<string, string | string[]>][]): Reply => ({
  calls: wanted.map(([name, args], index) => ({ name, arguments: args, callId: `call_${id}_${index}` })),
});
const after = (id: string, reply: Reply): Reply => ({ ...reply, when: { bodyIncludes: `"call_${id}_0"` } });
const first = (name: string, reply: Reply): Reply => ({ ...reply, when: { bodyIncludes: `ROLE-${name}` } });

/** Two sub-agents, one with one of its own, one with a second turn. A model goes by what it has asked for, not by luck. */
const tree = (waits: "waits" | "goes on"): Reply[] => [
  after("root6", say("Done.")),
  after("root5", calls("root6", ["close_agent", { target: "left" }])),
  after("root4", calls("root5", ["wait_agent", { targets: ["right"] }])),
  after("root3", calls("root4", ["send_input", { target: "right", message: "once more" }])),
  after("root2", calls("root3", ["wait_agent", { targets: ["right"] }])),
  after("root1", calls("root2", ["wait_agent", { targets: ["left"] }])),
  after("leaf1", say("Leaf.")),
  first("leaf", calls("leaf1", ["exec_command", { cmd: work("leaf", waits) }])),
  after("left3", say("Left.")),
  after("left2", calls("left3", ["wait_agent", { targets: ["leaf"] }])),
  after("left1", calls("left2", ["spawn_agent", { message: "be a leaf", agent_type: "leaf" }])),
  first("left", calls("left1", ["exec_command", { cmd: work("left", "goes on") }])),
  after("right2", say("Right again.")),
  { ...calls("right2", ["exec_command", { cmd: work("again", "goes on") }]), when: { bodyIncludes: "once more" } },
  after("right1", say("Right.")),
  first("right", calls("right1", ["exec_command", { cmd: work("right", waits) }])),
  calls(
    "root1",
    ["spawn_agent", { message: "go left", agent_type: "left" }],
    ["spawn_agent", { message: "go right", agent_type: "right" }],
  ),
];
const lines = ["left", "leaf", "right", "again"];

const startDesk = (waits: "waits" | "goes on") =>
  desk({
    files,
    replies: { replies: tree(waits), repeat: "always" },
    config: "[agents]\nmax_depth = 2\n",
  });
const start = ["exec", "-s", "workspace-write", "grow a tree"];

type Line = { record: { type: string; [key: string]: unknown } };
/** As far as their lines are whole. */
const threadsOf = ({ home }: Desk) =>
  sessionFiles(home)
    .map((path) => readFileSync(path, "utf8"))
    .map((text) => jsonLines(text.slice(0, text.lastIndexOf("\n") + 1)) as Line[])
    .map((records) => records.map(({ record }) => record));
const logOf = ({ repository }: Desk): string[] => {
  const path = join(repository, "log.txt");
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
};

/** What a resumed run must have left behind, wherever the first was killed. */
function expectSound(place: Desk): void {
  const threads = threadsOf(place);
  const log = logOf(place);
  expect(new Set(log).size, `done twice: ${log}`).toBe(log.length);
  expect(threads.map(([created]) => created?.role ?? "main").sort()).toEqual(["leaf", "left", "main", "right"]);
  const unknown = threads
    .flat()
    .filter(({ type, outcome }) => type === "tool.settled" && (outcome as { status: string }).status === "interrupted");
  // Whatever is not unknown happened exactly once.
  expect(log.length).toBeGreaterThanOrEqual(lines.length - unknown.length);
  for (const records of threads)
    expect(records.at(-1)).toMatchObject({ type: "turn.ended", end: { status: "completed" } });
}

describe("kill -9 at a write of any session file of a tree, then resume --last", () => {
  // As many as an undisturbed run has at least: what ends before a parent waits for it is one write more.
  const writes = 55;
  const ways = ["before", "torn", "after"] as const;
  const all = Array.from({ length: writes }, (_, index) => index + 1).flatMap((at) =>
    ways.map((when) => ({ at, when })),
  );
  const sample = all.filter(({ at, when }) => at % 5 === 2 && ways[at % 3] === when);

  test("an undisturbed run makes as many writes as are swept", async () => {
    const tidy = await startDesk("goes on");
    const counted = join(tidy.home, "writes");
    const result = await tidy.run(start, { nodeArguments: ["--require", killer], env: { KILL_LOG: counted } });
    expect(result.stdout, result.stderr).toBe("Done.\n");
    expect(logOf(tidy).sort()).toEqual([...lines].sort());
    expectSound(tidy);
    expect(Math.abs(Number(readFileSync(counted, "utf8")) - writes)).toBeLessThanOrEqual(2);
  });

  test.each(process.env.SWEEP === "full" ? all : sample)(
    "killed $when write $at: all of them finish, nothing is done twice",
    async ({ at, when }) => {
      const crashed = await startDesk("goes on");
      const env = { KILL_AT: String(at), KILL_WHEN: when };
      const { signal } = await crashed.run(start, { nodeArguments: ["--require", killer], env });
      const isBegun = at > 1 || when === "after";
      const main = threadsOf(crashed).find(([created]) => created && created.parentId === undefined);
      const isOver = main?.at(-1)?.type === "turn.ended";
      if (signal === "SIGKILL") {
        const resumed = await crashed.run(["exec", "resume", "--last"]);
        expect(resumed.code, resumed.stderr).toBe(isBegun && !isOver ? 0 : 2);
        if (isBegun && !isOver) expect(resumed.stdout).toBe("Done.\n");
      }
      if (isBegun) expectSound(crashed);
    },
  );
});

describe("kill -9 in the middle of running sub-agents and their own", () => {
  async function crashed(): Promise<Desk> {
    const place = await startDesk("waits");
    const child = place.start(start);
    await eventually(() => ["left", "leaf", "right"].every((line) => logOf(place).includes(line)));
    child.kill("SIGKILL");
    await ended(child);
    await nothingLeft(place.repository);
    return place;
  }

  test("resume brings all of them back, by id and by name, and tells each what is unknown", async () => {
    const place = await crashed();
    const before = place.requests().length;
    const { stdout, stderr } = await place.run(["exec", "resume", "--last"]);
    expect(stdout, stderr).toBe("Done.\n");
    expect(logOf(place).sort()).toEqual([...lines].sort());
    expectSound(place);
    const told = place
      .requests()
      .slice(before)
      .filter(({ body }) => JSON.stringify(body).includes("The outcome of this call is unknown"));
    // The leaf, and the right one in both of its turns.
    expect(new Set(told.map(({ body }) => (body as { prompt_cache_key: string }).prompt_cache_key)).size).toBe(2);
  });

  test("what they spent before counts from the first request on", async () => {
    const place = await crashed();
    const before = place.requests().length;
    const { code } = await place.run(["exec", "resume", "--last", "--budget", `turns=${before}`]);
    expect(code).toBe(5);
    expect(place.requests()).toHaveLength(before);
  });

  test("another prompt leaves them stopped, and known", async () => {
    const place = await crashed();
    const { stdout, stderr } = await place.run(["exec", "resume", "--last", "something else"]);
    expect(stdout, stderr).toBe("Done.\n");
    expect(JSON.stringify(place.requests().at(-1)?.body)).toContain("interrupted");
    const ends = threadsOf(place).map((records) => [
      records[0]?.role ?? "main",
      ...records.flatMap(({ type, end }) => (type === "turn.ended" ? [(end as { status: string }).status] : [])),
    ]);
    // The script goes on where it was and gives the right one its second turn.
    expect(ends.sort()).toEqual([
      ["leaf", "cancelled"],
      ["left", "cancelled"],
      ["main", "cancelled", "completed"],
      ["right", "cancelled", "completed"],
    ]);
  });
});
