// Pictures for README.md and docs/tui.md: the built program on a terminal in memory, its cells drawn by Chromium, and a
// recording of the first steps in README.md. npm run screenshots [-- NAME...] draws them, the same in every run; with --check it
// draws nothing, and fails where a picture does not show any more what the program shows.
import { execFileSync, spawn as start } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import headless from "@xterm/headless";
import { readPictureText, writePictureText } from "./picture-text.mjs";
import { scenarios } from "./screenshot-scenarios.mjs";
import { drawPicture, pictureOf, screenText } from "./terminal-picture.mjs";
import { drawRecording } from "./terminal-recording.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const target = join(root, "docs/screenshots");
const cli = join(root, "packages/cli/bin/agentcli.cjs");
// Not in the directory that TMPDIR names: the length of the path is in the numbers of tokens.
const scratchPrefix = "/tmp/screenshot-";
const environment = {
  PATH: process.env.PATH,
  TERM: "xterm-256color",
  LANG: "C.UTF-8",
  NODE_OPTIONS: `--require=${join(root, "scripts/fixed-clock.cjs")}`,
};

async function take(name, scenario) {
  const { columns } = scenario;
  const scratch = mkdtempSync(scratchPrefix);
  const model = await startModel(scratch, scenario.replies);
  try {
    const project = writeProject(scratch, model.url);
    const earlier = scenario.earlier ?? [];
    const envAt = (minute) => ({
      ...environment,
      HOME: scratch,
      COLORTERM: "truecolor",
      PICTURE_MINUTE: String(minute),
    });
    for (const [minute, prompt] of earlier.entries())
      execFileSync(process.execPath, [cli, "exec", prompt], { cwd: project, env: envAt(minute), stdio: "ignore" });
    const env = envAt(earlier.length);
    const rows = 48;
    const screen = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
    const program = spawn(process.execPath, [cli, ...scenario.args], { cwd: project, cols: columns, rows, env });
    program.onData((text) => screen.write(steady(text, scratch)));
    try {
      for (const [text, keys] of scenario.keys ?? []) {
        await shows(screen, text, `${name}, ${columns} columns`);
        program.write(keys);
      }
      await shows(screen, scenario.shows, `${name}, ${columns} columns`);
      await finish(screen, { file: join(target, `${name}-${columns}.png`), scratch });
    } finally {
      program.kill("SIGKILL");
    }
  } finally {
    model.process.kill();
    // What the program started ends a moment later, and may still write.
    rmSync(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** Draws what is on the screen once it stays as it is, or waits until it is what the picture shows. */
async function finish(screen, { file, scratch }) {
  if (isCheck) return compare(file, readPictureText(file), () => contentOf(screen));
  for (let before; before !== contentOf(screen); await delay(1000)) before = contentOf(screen);
  drawPicture(pictureOf(screen), { file, scratch });
  writePictureText(file, contentOf(screen));
  console.log(file);
}

/** The text, and a hash of all cells with their styles. */
const contentOf = (screen) =>
  `${screenText(screen).trimEnd()}\n\n${createHash("sha256").update(pictureOf(screen).page).digest("hex")}\n`;

/** As if each run had the same directory and commands took the same time. */
const steady = (text, scratch) =>
  text
    .replaceAll(scratch, "/home/ada/agentcli")
    .replaceAll(/\b\d\.\ds\b/g, "0.1s")
    .replaceAll(/ in \d+ms:/g, " in 20ms:");

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
  const scratch = mkdtempSync(scratchPrefix);
  try {
    symlinkSync(join(root, "node_modules"), join(scratch, "node_modules"));
    const [columns, rows] = [100, 100];
    const screen = new headless.Terminal({ cols: columns, rows, scrollback: 1000, allowProposedApi: true });
    const env = { ...environment, HOME: scratch, SHELL: "/bin/bash", npm_config_update_notifier: "false" };
    const lines = block.trim().split("\n");
    // Prompts are ours: a shell would show the paths of this machine.
    const script = lines
      .map((line) => `printf '\\033[1m$ %s\\033[0m\\n' ${quoted(line)}; ${line} || exit 1`)
      .join("\n");
    const program = spawn("bash", ["-c", script], { cwd: scratch, cols: columns, rows, env });
    const written = [];
    program.onData((text) => written.push(new Promise((resolve) => screen.write(steady(text, scratch), resolve))));
    const { exitCode } = await new Promise((resolve) => program.onExit(resolve));
    await Promise.all(written);
    if (exitCode !== 0) throw new Error(`The first steps of README.md ended with ${exitCode}:\n${screenText(screen)}`);
    const file = join(target, "first-steps.svg");
    const svg = drawRecording(screen);
    if (isCheck) return compare(file, readFileSync(file, "utf8"), () => svg);
    writeFileSync(file, svg);
    console.log(file);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** A busy machine shows it later. */
async function compare(file, stored, shown) {
  for (let tries = 0; stored !== shown() && tries < 300; tries += 1) await delay(100);
  if (stored === shown()) return console.log(`${file}: the same`);
  process.exitCode = 1;
  console.error(
    `${file} shows something else than the program. Run npm run screenshots.\n--- the picture\n${stored}\n--- the program\n${shown()}`,
  );
}

const isCheck = process.argv.includes("--check");
const wanted = process.argv.slice(2).filter((name) => !name.startsWith("--"));
mkdirSync(target, { recursive: true });
for (const [name, scenario] of Object.entries(scenarios))
  if (wanted.length === 0 || wanted.includes(name)) await take(name, scenario);
if (wanted.length === 0 || wanted.includes("first-steps")) await record();
