// `npm run demo -- --automation`: a label on a pull request starts an agent that implements one step of a plan, opens a draft
// pull request with it and comments a summary. Everything on the embedded git host, with the practice model.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const branch = "plan";
const label = "implement";
const plan = "# PLAN\n\n- [ ] fix the failing test\n- [ ] create NOTES.md containing Pages are whole\n";

export async function runAutomationDemo({ url, sample, key }, send) {
  console.log(`\nThe platform runs at ${url}; the sample repository is ${sample}\n`);
  pushPlan(sample, key);
  const pull = await send("POST", "/git/sample/pulls", { title: "Plan", head: branch });
  console.log(`Pull request ${pull.url ?? pull.number} has docs/rpi/PLAN.md with two open steps.\n`);
  const automation = await send("POST", "/v1/automations", await readTemplate(sample));
  console.log(`> add the label "${label}"\n`);
  await send("POST", `/git/sample/pulls/${pull.number}/labels`, { labels: [label] });
  const firing = await waitForRun(send, automation.id);
  const run = await send("GET", `/v1/agents/${firing.agentId}/runs/${firing.runId}`);
  const [made] = run.git?.branches ?? [];
  const { items } = await send("GET", `/git/sample/pulls/${pull.number}/comments`);
  if (run.status !== "FINISHED" || !made?.prUrl || items.length !== 1)
    throw new Error(
      `The run ended as ${run.status} with ${items.length} comments. ${run.result ?? run.error?.message}`,
    );
  console.log(`${items[0].author} comments:\n${items[0].body.replace(/^/gm, "  ")}\n`);
  console.log(`Draft pull request ${made.prUrl}\n`);
  console.log(await send("GET", `${new URL(made.prUrl).pathname}/diff`));
}

/** A branch with the files of the workflow and a plan. */
function pushPlan(sample, key) {
  const directory = mkdtempSync(join(tmpdir(), "platform-demo-plan-"));
  try {
    const remote = sample.replace("://", `://${key}:@`);
    const git = (...args) =>
      execFileSync("git", ["-c", "user.name=Demo", "-c", "user.email=demo@example.com", ...args], {
        ...{ cwd: directory, stdio: ["ignore", "ignore", "pipe"] },
      });
    git("clone", "--quiet", remote, ".");
    git("checkout", "--quiet", "-b", branch);
    const cli = join(root, "packages/cli/bin/agentcli.cjs");
    execFileSync(process.execPath, [cli, "init", "rpi", "--dialect", "platform"], {
      ...{
        cwd: directory,
        stdio: ["ignore", "ignore", "pipe"],
        env: { ...process.env, AGENT_HOME: `${directory}/.git/agent` },
      },
    });
    mkdirSync(join(directory, "docs/rpi"), { recursive: true });
    writeFileSync(join(directory, "docs/rpi/PLAN.md"), plan);
    git("add", ".");
    git("commit", "--quiet", "-m", "Plan the work");
    git("push", "--quiet", "origin", branch);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The template, for the sample repository. */
async function readTemplate(sample) {
  const { default: template } = await import("../examples/automations/implement-on-label.json", {
    with: { type: "json" },
  });
  return JSON.parse(JSON.stringify(template).replaceAll("REPOSITORY", sample).replaceAll("BRANCH", branch));
}

/** Until the first firing of the automation has a run that has ended. */
async function waitForRun(send, automationId) {
  const deadline = Date.now() + 300_000;
  for (;;) {
    const { items } = await send("GET", `/v1/automations/${automationId}/firings`);
    const [firing] = items;
    if (firing?.runStatus) return firing;
    if (firing && !["planned", "started"].includes(firing.status)) throw new Error(`Not started: ${firing.reason}`);
    if (Date.now() > deadline) throw new Error(`No run has ended within five minutes: ${JSON.stringify(items)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
