// Pictures of the terminal interface for docs/tui.md: the built program on a terminal in memory, its cells drawn by Chromium.
// npm run screenshots [-- NAME...]
import { execFileSync, spawn as start } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import headless from "@xterm/headless";
import { scenarios } from "./screenshot-scenarios.mjs";
import { drawPicture, screenText } from "./terminal-picture.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const target = join(root, "docs/screenshots");
const cli = join(root, "packages/cli/bin/agentcli.cjs");
const allColumns = [60, 80, 120, 250];

async function take(name, scenario, columns) {
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
      drawPicture(screen, { file, scratch });
      console.log(file);
    } finally {
      program.kill("SIGKILL");
    }
  } finally {
    model.process.kill();
    rmSync(scratch, { recursive: true, force: true });
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

const wanted = process.argv.slice(2);
mkdirSync(target, { recursive: true });
for (const [name, scenario] of Object.entries(scenarios))
  for (const columns of allColumns)
    if (wanted.length === 0 || wanted.includes(name)) await take(name, scenario, columns);
