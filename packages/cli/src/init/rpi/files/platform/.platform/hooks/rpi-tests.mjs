// Runs the tests before an agent that works on the plan stops; if they fail, the agent goes on with their output.
// Tests are code that an agent may have written: they run in agentcli's sandbox. Where that is not installed, as on a
// machine of the platform, the agent is asked once to run them itself.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const project = process.env.PLATFORM_PROJECT_DIR ?? process.cwd();
const has = (name) => existsSync(join(project, name));

const { loop_count: asked } = JSON.parse(readFileSync(0, "utf8") || "{}");
const command = testCommand();
console.log(JSON.stringify(command && isImplementing() ? runTests(command) : {}));

/** Research and planning leave the tests as they are. */
function isImplementing() {
  return has("docs/rpi/PLAN.md") && /^\s*[-*] \[x\]/im.test(readFileSync(join(project, "docs/rpi/PLAN.md"), "utf8"));
}

function testCommand() {
  if (has("package.json")) {
    const { scripts = {} } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
    if (scripts.test) return ["npm", "test"];
  }
  if (has("Cargo.toml")) return ["cargo", "test"];
  if (has("go.mod")) return ["go", "test", "./..."];
  if (has("pyproject.toml") || has("pytest.ini")) return ["python3", "-m", "pytest"];
  return null;
}

function runTests(command) {
  const { error, status, stdout, stderr } = spawnSync(
    "agentcli",
    ["sandbox", "run", "--sandbox", "workspace-write", "--", ...command],
    { cwd: process.env.PLATFORM_PROJECT_DIR, encoding: "utf8" },
  );
  if (error?.code === "ENOENT")
    return asked ? {} : { followup_message: `Run \`${command.join(" ")}\`, and fix what you changed until it passes.` };
  if (error) {
    process.stderr.write(`The tests were not run: agentcli could not be started (${error.code}).\n`);
    process.exit(1);
  }
  if (status === 0) return {};
  const output = `${stdout}${stderr}`.slice(-4000);
  return { followup_message: `\`${command.join(" ")}\` fails. Fix what you changed, not the tests:\n\n${output}` };
}
