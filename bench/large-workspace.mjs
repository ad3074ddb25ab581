// The start of exec in a workspace of 200,000 tracked files in 2,000 directories, over an empty one.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { minimum, run } from "./measure.mjs";
import { message, startServer } from "./model-server.mjs";

/** `agent(url, args)` starts the program with the model at that URL. */
export async function largeWorkspaceRows({ scratch, empty, agent, rounds }) {
  const large = join(scratch, "large-workspace");
  writeRepository(large);
  const server = await startServer(() => message("Hello."));
  const times = new Map([empty, large].map((cwd) => [cwd, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [cwd, wall] of times) wall.push((await run({ ...agent(server.url, ["exec", "hello"]), cwd })).wallMs);
  }
  server.close();
  const [base, ours] = [...times.values()].map(minimum);
  return [["exec in 200,000 files, over an empty workspace", "agentcli exec", ours, "ms", ours / base, "< 1.3x"]];
}

function writeRepository(path) {
  for (let directory = 0; directory < 2_000; directory += 1) {
    mkdirSync(join(path, String(directory)), { recursive: true });
    for (let file = 0; file < 100; file += 1) writeFileSync(join(path, `${directory}/${file}.txt`), `${file}\n`);
  }
  const git = (...args) =>
    spawnSync("git", ["-c", "user.name=Bench", "-c", "user.email=bench@example.com", ...args], { cwd: path });
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "--message=Files");
}
