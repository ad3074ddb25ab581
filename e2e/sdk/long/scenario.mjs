// A user's program on the SDK: prints what it observed as JSON. Arguments: repository, image.
import { readFileSync } from "node:fs";
import { AbortError, Client, TurnError } from "@agentcli/sdk";

const [repository, picture] = process.argv.slice(2);
const client = new Client();
const thread = client.startThread({ workingDirectory: repository, sandboxMode: "workspace-write" });
const outputSchema = { type: "object", properties: { verdict: { type: "string" } }, required: ["verdict"] };

const ran = await thread.run("work");
const streamed = [];
const { events } = await thread.runStreamed("more");
for await (const event of events) streamed.push(event.type);
const judged = await thread.run(
  [
    { type: "text", text: "judge" },
    { type: "local_image", path: picture },
  ],
  { outputSchema },
);
const resumed = await client.resumeThread(thread.id, { workingDirectory: repository }).run("again");

const abort = new AbortController();
const aborted = await errorOf(thread.runStreamed("wait", { signal: abort.signal }), () => abort.abort());
const missing = await errorOf(new Client({ agentPathOverride: "/nowhere/agentcli" }).startThread().runStreamed("work"));
const dying = await errorOf(thread.runStreamed("wait"), () => process.kill(ownChild(), "SIGKILL"));

console.log(
  JSON.stringify({
    node: process.version,
    ran: ran.finalResponse,
    streamed,
    judged: JSON.parse(judged.finalResponse),
    resumed: resumed.finalResponse,
    aborted: aborted instanceof AbortError,
    missing: missing instanceof TurnError && missing.kind,
    dying: dying.signal,
  }),
);

/** Calls `act` once a command has started; returns the error that the turn is rejected with. */
async function errorOf(turn, act = () => {}) {
  try {
    for await (const event of (await turn).events) if (event.type === "item.started") act();
  } catch (error) {
    return error;
  }
  throw new Error("expected an error");
}

function ownChild() {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8");
  return Number(children.trim().split(" ").at(-1));
}
