// `npm start`: a finished agent run on the sample repository, with no key and no network.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { setUp } from "./setup.mjs";

const house = join(dirname(fileURLToPath(import.meta.url)), "..");

await setUp();
const scratch = mkdtempSync(join(tmpdir(), "agentcli-demo-"));
try {
  const repository = join(scratch, "sample");
  cpSync(join(house, "examples/sample"), repository, { recursive: true });
  const git = ["-c", "user.name=Demo", "-c", "user.email=demo@example.com"];
  run("git", ["init", "--quiet", "--initial-branch=main"]);
  run("git", ["add", "--all"]);
  run("git", [...git, "commit", "--quiet", "--message=A sample with one failing test"]);
  console.log('$ agentcli exec --model practice --sandbox workspace-write "fix the failing test"\n');
  const agent = [
    join(house, "packages/cli/bin/agentcli.cjs"),
    "exec",
    "--model",
    "practice",
    "--sandbox",
    "workspace-write",
  ];
  run(process.execPath, [...agent, "fix the failing test"]);
  console.log("\n$ git diff\n");
  run("git", ["--no-pager", "diff"]);

  function run(program, args) {
    const env = { ...process.env, AGENT_HOME: join(scratch, "home") };
    const { status } = spawnSync(program, args, { cwd: repository, env, stdio: ["ignore", "inherit", "inherit"] });
    if (status !== 0) throw new Error(`${program} ${args[0]} ended with exit code ${status}`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
