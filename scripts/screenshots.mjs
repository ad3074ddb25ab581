// Pictures for README.md and docs/tui.md: the built program on a terminal in memory, its cells drawn by Chromium, and a
// recording of the first steps in README.md. npm run screenshots [-- NAME...] draws them; with --check it draws nothing, and
// fails where a picture does not show any more what the program shows.
import { execFileSync, spawn as start } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import headless from "@xterm/headless";
import { readPictureText, sameInEveryRun, writePictureText } from "./picture-text.mjs";
import { scenarios } from "./screenshot-scenarios.mjs";
import { drawPicture, screenText } from "./terminal-picture.mjs";
import { drawRecording, readRecordingText } from "./terminal-recording.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const target = join(root, "docs/screenshots");
const cli = join(root, "packages/cli/bin/agentcli.cjs");

async function take(name, scenario) {
  const { columns } = scenario;
  const scratch = mkdtempSync(join(tmpdir(), "screenshot-"));
  const model = await startModel(scratch, scenario.replies);
  try {
    const project = writeProject(scratch, model.url);
    const env = {
      PATH: process.env.PATH,
      HOME: scratch,
      TERM: "xterm-256color",
      COLORTERM: "truecolor",
      LANG: "C.UTF-8",
    };
    for (const prompt of scenario.earlier ?? [])
      execFileSync(process.execPath, [cli, "exec", prompt], { cwd: project, env, stdio: "ignore" });
    const rows = 48;
    const screen = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
    const program = spawn(process.execPath, [cli, ...scenario.args], { cwd: project, cols: columns, rows, env });
    program.onData((text) => screen.write(text));
    try {
      for (const [text, keys] of scenario.keys ?? []) {
        await shows(screen, text, `${name}, ${columns} columns`);
        program.write(keys);
      }
      await shows(screen, scenario.shows, `${name}, ${columns} columns`);
      const file = join(target, `${name}-${columns}.png`);
      const text = screenText(screen).trimEnd();
      if (isCheck) return compare(file, readPictureText(file), scenario.moves ? readPictureText(file) : text);
      drawPicture(screen, { file, scratch });
      writePictureText(file, text);
      console.log(file);
    } finally {
      program.kill("SIGKILL");
    }
  } finally {
    model.process.kill();
    // What the program started ends a moment later, and may still write.
    rmSync(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

async function startModel(scratch, replies) {
  const script = join(scratch, "script.json");
  writeFileSync(script, JSON.stringify(replies));
  const server = start(process.execPath, [join(root, "packages/testkit/dist/model-server.cjs"), "--script", script]);
  const line = await new Promise((resolve) => server.stdout.once("data", (data) => resolve(String(data))));
  return { process: server, url: /http\S+/.exec(line)?.[0] };
}

function writeProject(scratch, url) {
  const project = join(scratch, "shop");
  for (const folder of ["src", "test", ".agents/skills/release"]) mkdirSync(join(project, folder), { recursive: true });
  writeFileSync(
    join(project, "src/price.ts"),
    "export function total(items: Item[]): number {\n  return items.reduce((sum, item) => sum + item.price, 0);\n}\n// end\n",
  );
  for (const file of ["src/order.ts", "src/stock.ts", "test/price.test.ts", "README.md"])
    writeFileSync(join(project, file), "");
  execFileSync("git", ["init", "--quiet", project]);
  mkdirSync(join(scratch, ".agentcli"));
  writeFileSync(
    join(scratch, ".agentcli/config.toml"),
    `model = "gpt-5.4"\nmodel_provider = "scripted"\n[model_providers.scripted]\nbase_url = "${url}"\nwire_api = "responses"\n`,
  );
  return project;
}

/** Until all of the texts are on the screen. */
async function shows(screen, texts, name) {
  for (let tries = 0; tries < 600; tries += 1) {
    const text = screenText(screen);
    if ([texts].flat().every((each) => text.includes(each))) return;
    await delay(100);
  }
  throw new Error(`${name}: the terminal does not show ${[texts].flat().join(", ")}:\n${screenText(screen).trimEnd()}`);
}

/** The commands of README.md under "First steps", as they are pasted into a shell. */
async function record() {
  const [, block = ""] =
    /## First steps[\s\S]*?```sh\n([\s\S]*?)```/.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
  const scratch = mkdtempSync(join(tmpdir(), "screenshot-"));
  try {
    symlinkSync(join(root, "node_modules"), join(scratch, "node_modules"));
    const [columns, rows] = [100, 100];
    const screen = new headless.Terminal({ cols: columns, rows, scrollback: 1000, allowProposedApi: true });
    const env = { PATH: process.env.PATH, HOME: scratch, TERM: "xterm-256color", LANG: "C.UTF-8", SHELL: "/bin/bash" };
    const lines = block.trim().split("\n");
    // Prompts are ours: a shell would show the paths of this machine.
    const script = lines
      .map((line) => `printf '\\033[1m$ %s\\033[0m\\n' ${quoted(line)}; ${line} || exit 1`)
      .join("\n");
    const program = spawn("bash", ["-c", script], { cwd: scratch, cols: columns, rows, env });
    const written = [];
    program.onData((text) => written.push(new Promise((resolve) => screen.write(text, resolve))));
    const { exitCode } = await new Promise((resolve) => program.onExit(resolve));
    await Promise.all(written);
    if (exitCode !== 0) throw new Error(`The first steps of README.md ended with ${exitCode}:\n${screenText(screen)}`);
    const file = join(target, "first-steps.svg");
    const svg = drawRecording(screen);
    if (isCheck) return compare(file, readRecordingText(readFileSync(file, "utf8")), readRecordingText(svg));
    writeFileSync(file, svg);
    console.log(file);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function compare(file, stored, shown) {
  if (stored !== null && sameInEveryRun(stored) === sameInEveryRun(shown)) return console.log(`${file}: the same`);
  process.exitCode = 1;
  console.error(
    `${file} shows something else than the program. Run npm run screenshots.\n--- the picture\n${stored}\n--- the program\n${shown}`,
  );
}

const isCheck = process.argv.includes("--check");
const wanted = process.argv.slice(2).filter((name) => !name.startsWith("--"));
mkdirSync(target, { recursive: true });
for (const [name, scenario] of Object.entries(scenarios))
  if (wanted.length === 0 || wanted.includes(name)) await take(name, scenario);
if (wanted.length === 0 || wanted.includes("first-steps")) await record();
