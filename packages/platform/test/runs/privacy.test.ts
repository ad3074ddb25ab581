// The prompts, code and output of runs are in no log line, metric or trace of the server, whether runs succeed or fail.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { call, fault, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import type { Settings } from "../../src/foundation/config/index.ts";
import { openLog } from "../../src/foundation/telemetry/index.ts";
import { openRunHarness, type RunHarnessOptions } from "./run-harness.ts";

/** Every text of the scene has it, followed by what it is. */
const mark = "zebra-4711-";

/** Of what the tests write, by name: those that a text contains. */
const marksIn = (text: string): string[] => [...new Set(text.match(/zebra-4711-\w+/gi) ?? [])];

/** With the settings of a new server, but for a file that traces go to. */
async function openWatched(replies: RunHarnessOptions["replies"], otel: Settings["otel"] = {}) {
  const folder = await temporaryDirectory();
  onTestFinished(() => folder.remove());
  const file = join(folder.path, "otel.jsonl");
  const lines: string[] = [];
  const log = openLog({ write: (line) => lines.push(line), now: () => new Date() });
  const harness = await openRunHarness({ replies, settings: { otel: { ...otel, file } } }, log);
  /** All that an operator's systems get; each part is there. */
  const outgoing = async () => ({
    log: lines.join(""),
    metrics: await (await fetch(`${harness.client.url}/metrics`)).text(),
    traces: readFileSync(file, "utf8"),
  });
  return { ...harness, outgoing };
}

const shell = (cmd: string) => call("exec_command", { cmd });

/** Writes its last words to its error output. */
const brokenServer = `process.stderr.write("${mark}server"); process.exit(7);`;

const work = [
  shell(`cat ${mark}name.txt; echo "${mark}output"; echo ${mark}stderr >&2`),
  shell(`echo ${mark}failure >&2; exit 3`),
  call("read_file", { path: `${mark}missing.txt` }),
  call("no_such_tool", { text: `${mark}argument` }),
  shell(
    `echo ${mark}artifact > "$PLATFORM_ARTIFACTS_DIR/${mark}artifact.txt"; curl -sS http://${mark}host.example:81/`,
  ),
  shell(`echo ${mark}code > code.txt; git add code.txt; git commit -qm "${mark}commit"`),
  replyWith(`Done: ${mark}reply.`),
];

test("no log line, metric or trace has the prompt, the code or the output of a run", async () => {
  const { client, outgoing, repository, requests, records } = await openWatched([...work, replyWith(`${mark}again`)]);
  const url = await repository("shop", { [`${mark}name.txt`]: `${mark}file\n`, "broken.mjs": brokenServer });
  const broken = { name: "broken", command: process.execPath, args: ["broken.mjs", `${mark}option`] };
  const ids = await client.create({
    ...{ prompt: { text: `${mark}prompt` }, name: `${mark}title`, repos: [{ url }], autoCreatePR: true },
    ...{ envVars: { WORD: `${mark}variable` }, metadata: { ticket: `${mark}metadata` }, mcpServers: [broken] },
  });
  expect(await client.waitForRun(ids)).toMatchObject({ status: "FINISHED", result: `Done: ${mark}reply.` });
  const next = await client.followUp(ids.agentId, `${mark}followup`);
  expect(await client.waitForRun(next)).toMatchObject({ status: "FINISHED" });
  const pulls = await client.get("/v1/repositories/shop/pulls");
  expect(pulls.text).toContain(`${mark}commit`);

  // All of it was there to be written.
  const known = marksIn(JSON.stringify([requests().map(({ body }) => body), await records(ids.agentId)]));
  for (const name of ["prompt", "file", "output", "stderr", "failure", "argument", "reply", "followup", "commit"])
    expect(known).toContain(`${mark}${name}`);
  const { log, metrics, traces } = await outgoing();
  for (const text of [log, traces]) expect(text).toContain(ids.runId);
  expect(traces).toContain("execute_tool exec_command");
  expect(metrics).toContain('platform_runs_ended_total{status="FINISHED"} 2');
  expect({ log: marksIn(log), metrics: marksIn(metrics), traces: marksIn(traces) }).toEqual({
    ...{ log: [], metrics: [], traces: [] },
  });
});

test("nor when the provider repeats the prompt in its refusal, and requests are refused", async () => {
  const refusal = fault(400, { body: { error: { message: `cannot answer: ${mark}prompt`, code: `${mark}code` } } });
  const { client, outgoing } = await openWatched({ replies: [refusal], repeat: "loop" });
  const ids = await client.create(`${mark}prompt`);
  const run = await client.waitForRun(ids);
  expect(run).toMatchObject({ status: "ERROR" });
  expect(JSON.stringify(run)).toContain(`${mark}prompt`);
  for (const [path, body] of [
    ["/v1/inference/responses", { input: `${mark}input` }],
    ["/v1/agents", { prompt: { text: `${mark}prompt` }, repos: [{ url: `ftp://${mark}repository` }] }],
    ["/v1/agents", { prompt: { text: 1, [`${mark}member`]: `${mark}value` } }],
    [`/v1/agents/${mark}agent/runs?word=${mark}query`, { prompt: { text: `${mark}prompt` } }],
  ] as const)
    expect((await client.post(path, body)).status).toBeGreaterThanOrEqual(400);
  const { log, metrics, traces } = await outgoing();
  expect(log).toContain("inference.failed");
  expect(traces).toContain(ids.runId);
  expect({ log: marksIn(log), metrics: marksIn(metrics), traces: marksIn(traces) }).toEqual({
    ...{ log: [], metrics: [], traces: [] },
  });
});

test("traces have prompts and output once the operator asks for them; log and metrics never do", async () => {
  const replies = [shell(`echo ${mark}output`), replyWith(`${mark}reply`)];
  const { client, outgoing } = await openWatched(replies, { include_content: true });
  await client.waitForRun(await client.create(`${mark}prompt`));
  const { log, metrics, traces } = await outgoing();
  expect(marksIn(traces)).toEqual(expect.arrayContaining([`${mark}prompt`, `${mark}output`, `${mark}reply`]));
  expect({ log: marksIn(log), metrics: marksIn(metrics) }).toEqual({ log: [], metrics: [] });
});
