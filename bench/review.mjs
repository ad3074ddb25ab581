// Reviews of changes that are larger than a model can hold: memory of a 200 MB diff, time of 20,000 untracked files.
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { minimum, peakMemoryMb, run } from "./measure.mjs";
import { message, startServer } from "./model-server.mjs";

/** `agent(url, args)` starts the program with the model at that URL. */
export async function reviewRows({ scratch, agent }) {
  const server = await startServer(() => message("Nothing found."));
  const review = (cwd) => ({ ...agent(server.url, ["review", "--uncommitted"]), cwd });
  const large = repository(join(scratch, "large-diff"), writeLargeFiles);
  const many = repository(join(scratch, "many-files"), writeManyFiles);
  const peak = await peakMemoryMb(review(large));
  const times = { review: [], git: [] };
  for (let round = 0; round < 3; round += 1) {
    times.review.push((await run(review(many))).wallMs);
    times.git.push(
      (await run({ program: "git", args: ["add", "--dry-run", "."], env: process.env, cwd: many })).wallMs,
    );
  }
  server.close();
  const [ours, git] = [minimum(times.review), minimum(times.git)];
  return [
    ["review of a 200 MB diff, peak memory of the tree", "agentcli review", peak, "MB", null, "< 250 MB"],
    [
      "review of 20,000 untracked files, over git add --dry-run",
      "agentcli review",
      ours,
      "ms",
      ours / git,
      "< 2000 ms",
    ],
  ];
}

function repository(path, writeFiles) {
  spawnSync("git", ["init", "--quiet", path]);
  const author = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com"];
  spawnSync("git", [...author, "commit", "--quiet", "--allow-empty", "--message=Start"], { cwd: path });
  writeFiles(path);
  return path;
}

function writeLargeFiles(path) {
  const lines = "a line of text as long as most lines of most programs are, give or take\n".repeat(14_000);
  for (let number = 0; number < 20; number += 1) {
    const file = openSync(join(path, `${number}.txt`), "w");
    for (let part = 0; part < 10; part += 1) writeSync(file, lines);
    closeSync(file);
  }
}

function writeManyFiles(path) {
  for (let number = 0; number < 20_000; number += 1) {
    const folder = join(path, `area-${number % 200}`);
    if (number < 200) mkdirSync(folder);
    writeFileSync(join(folder, `${number}.txt`), `file ${number}\n`);
  }
}
