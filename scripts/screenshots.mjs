// Pictures of the terminal interface for docs/tui.md: the built program on a terminal in memory, its cells drawn by Chromium.
// node scripts/screenshots.mjs [NAME...]
import { execFileSync, spawn as start } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import headless from "@xterm/headless";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const target = join(root, "docs/screenshots");
const call = (name, args) => ({ calls: [{ name, arguments: args }] });

const patch = `*** Begin Patch
*** Update File: src/price.ts
@@
 export function total(items: Item[]): number {
-  return items.reduce((sum, item) => sum + item.price, 0);
+  return items.reduce((sum, { price, count }) => sum + price * count, 0);
 }
*** End Patch`;

const plan = (status) => ({
  plan: [
    { step: "Find where totals are added up", status: "completed" },
    { step: "Count each item as often as it was ordered", status },
    { step: "Run the tests", status: "pending" },
  ],
});

const summary = `# Done

\`total\` counts each item as often as it was ordered.

| file | change |
| --- | --- |
| src/price.ts | multiplies by \`count\` |

\`\`\`ts
total([{ price: 2, count: 3 }]); // 6
\`\`\`

- Nothing else was changed
- The tests pass`;

const push = {
  cmd: "git push origin fix-totals",
  sandbox_permissions: "require_escalated",
  justification: "Pushing needs the network, which the sandbox does not have.",
  prefix_rule: ["git", "push"],
};

/** Each: what the model replies, what is typed, and the text that shows that the picture is complete. */
const pictures = {
  transcript: {
    columns: 100,
    rows: 40,
    replies: [
      call("update_plan", plan("in_progress")),
      call("exec_command", { cmd: "grep -rn total src" }),
      call("apply_patch", { input: patch }),
      { messages: [summary] },
    ],
    shows: "The tests pass",
  },
  approval: {
    columns: 100,
    rows: 24,
    replies: [call("update_plan", plan("in_progress")), call("exec_command", push)],
    shows: "No, and stop",
  },
  hunks: {
    columns: 80,
    rows: 22,
    args: ["--sandbox", "read-only"],
    replies: [
      call("apply_patch", {
        input: `${patch.replace("\n*** End Patch", "")}\n@@\n-// end\n+// the end\n*** End Patch`,
      }),
    ],
    keys: [["Decide hunk by hunk", "h"]],
    shows: "Hunk 1 of 2",
  },
  narrow: {
    columns: 60,
    rows: 30,
    replies: [call("update_plan", plan("in_progress")), call("apply_patch", { input: patch }), { messages: [summary] }],
    shows: "The tests pass",
  },
};

async function take(name, { columns, rows, replies, args = [], keys = [], shows }) {
  const scratch = mkdtempSync(join(tmpdir(), "screenshot-"));
  const project = join(scratch, "shop");
  mkdirSync(join(project, "src"), { recursive: true });
  writeFileSync(
    join(project, "src/price.ts"),
    "export function total(items: Item[]): number {\n  return items.reduce((sum, item) => sum + item.price, 0);\n}\n// end\n",
  );
  execFileSync("git", ["init", "--quiet", project]);
  writeFileSync(join(scratch, "script.json"), JSON.stringify({ replies }));
  const model = start(process.execPath, [
    join(root, "packages/testkit/dist/model-server.cjs"),
    "--script",
    join(scratch, "script.json"),
  ]);
  try {
    const url = /http\S+/.exec(
      await new Promise((resolve) => model.stdout.once("data", (data) => resolve(String(data)))),
    );
    mkdirSync(join(scratch, ".agentcli"));
    writeFileSync(
      join(scratch, ".agentcli/config.toml"),
      `model = "gpt-5.4"\nmodel_provider = "scripted"\n[model_providers.scripted]\nbase_url = "${url}"\nwire_api = "responses"\n`,
    );
    const screen = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
    const program = spawn(
      process.execPath,
      [join(root, "packages/cli/bin/agentcli.cjs"), ...args, "each item counts once, not as often as ordered"],
      {
        cwd: project,
        cols: columns,
        rows,
        env: { PATH: process.env.PATH, HOME: scratch, TERM: "xterm-256color", COLORTERM: "truecolor", LANG: "C.UTF-8" },
      },
    );
    program.onData((text) => screen.write(text));
    for (const [text, key] of [...keys, [shows, null]]) {
      await until(() => textOf(screen).includes(text), name);
      if (key) program.write(key);
    }
    // The frame that shows it is followed by one with the state after it.
    await delay(1500);
    draw(name, screen, scratch);
    program.kill("SIGKILL");
  } finally {
    model.kill();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function until(isTrue, name) {
  for (let tries = 0; tries < 600; tries += 1) {
    if (isTrue()) return;
    await delay(100);
  }
  throw new Error(`${name}: the terminal does not show what the picture needs`);
}

const lineOf = (screen, row) => screen.buffer.active.getLine(screen.buffer.active.viewportY + row);
const textOf = (screen) =>
  Array.from({ length: screen.rows }, (_, row) => lineOf(screen, row)?.translateToString(true) ?? "").join("\n");

const palette = [
  ...["#1d1f21", "#cc6666", "#8abe7a", "#e0b45a", "#81a2be", "#b294bb", "#7fc0bb", "#c5c8c6"],
  ...["#767c80", "#e08080", "#a5d695", "#f2cc78", "#9dbdd8", "#cdb0d6", "#9ad9d4", "#ffffff"],
];

function colorOf(cell, kind) {
  const value = kind === "fg" ? cell.getFgColor() : cell.getBgColor();
  if (kind === "fg" ? cell.isFgRGB() : cell.isBgRGB()) return `#${value.toString(16).padStart(6, "0")}`;
  if (kind === "fg" ? cell.isFgPalette() : cell.isBgPalette()) return palette[value] ?? "#c5c8c6";
  return null;
}

function styleOf(cell) {
  const fg = colorOf(cell, "fg");
  const bg = colorOf(cell, "bg");
  return [
    fg && `color:${fg}`,
    bg && `background:${bg}`,
    cell.isBold() && "font-weight:700",
    cell.isDim() && "opacity:.62",
    cell.isItalic() && "font-style:italic",
    cell.isUnderline() && "text-decoration:underline",
    cell.isInverse() && "filter:invert(1)",
  ]
    .filter(Boolean)
    .join(";");
}

const escaped = (text) => text.replace(/[&<>]/g, (found) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[found]);

function draw(name, screen, scratch) {
  const [width, height] = [9, 19];
  const cells = [];
  for (let row = 0; row < screen.rows; row += 1)
    for (let column = 0; column < screen.cols; column += 1) {
      const cell = lineOf(screen, row)?.getCell(column);
      if (!cell || cell.getChars() === "" || (cell.getChars() === " " && !colorOf(cell, "bg"))) continue;
      const position = `left:${column * width}px;top:${row * height}px;width:${cell.getWidth() * width}px`;
      cells.push(`<i style="${position};${styleOf(cell)}">${escaped(cell.getChars())}</i>`);
    }
  const { cursorX, cursorY } = screen.buffer.active;
  const cursor = `<b style="left:${cursorX * width}px;top:${cursorY * height}px"></b>`;
  const size = [screen.cols * width + 24, screen.rows * height + 24];
  const page = `<!doctype html><meta charset="utf-8"><style>
body{margin:0;background:#1d1f21;width:${size[0]}px;height:${size[1]}px;overflow:hidden}
div{position:relative;margin:12px;font:15px/${height}px "DejaVu Sans Mono","Noto Sans Mono CJK JP",monospace;color:#c5c8c6}
i{position:absolute;font-style:normal;white-space:pre;height:${height}px}
b{position:absolute;width:2px;height:${height}px;background:#c5c8c6}
</style><div>${cells.join("")}${cursor}</div>`;
  writeFileSync(join(scratch, "page.html"), page);
  const file = join(target, `${name}.png`);
  const flags = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    `--user-data-dir=${scratch}/chromium`,
  ];
  const program = process.env.CHROMIUM ?? "chromium";
  execFileSync(
    program,
    [...flags, `--window-size=${size.join(",")}`, `--screenshot=${file}`, `file://${scratch}/page.html`],
    {
      stdio: "ignore",
    },
  );
  console.log(file);
}

const wanted = process.argv.slice(2);
mkdirSync(target, { recursive: true });
for (const [name, picture] of Object.entries(pictures))
  if (wanted.length === 0 || wanted.includes(name)) await take(name, picture);
