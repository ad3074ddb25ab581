// The terminal interface on a pseudo-terminal: first paint, and typing while much is written.
import { spawn as start } from "node:child_process";
import { readFileSync } from "node:fs";
import { spawn } from "@lydell/node-pty";
import { median, processTree, run } from "./measure.mjs";
import { command, message, startServer } from "./model-server.mjs";

/** `others`: terminal interfaces of other programs, each with the text that its first paint shows. */
export async function terminalRows({ agent, cwd, rounds, others }) {
  // Made before the measurement, which has one thread.
  const reply = message(answer, 65_536);
  return [
    ...(await firstPaint({ agent, cwd, rounds, others })),
    ...(await underLoad({ agent, cwd, what: "2 MB answer", reply: () => reply, text: answer })),
    ...(await underLoad({
      agent,
      cwd,
      what: "output of 20,000 lines",
      reply: (index) => (index === 0 ? command("seq 1 20000", 0) : message(lastWords)),
      text: null,
    })),
  ];
}

const lastWords = "That was all.";
const lineStart = "0123456789abcdef";
const answer = `${`${lineStart} 0123456789abcd\n`.repeat(65_536)}\n${lastWords}`;
/** A program that has not shown by then what is awaited never will. */
const limitMs = 60_000;
/** After that time without any of the reply, all of it has been written. */
const restMs = 1000;
const ready = "Ask for a change";

async function firstPaint({ agent, cwd, rounds, others }) {
  const server = await startServer(() => message("Hello."));
  const ours = plain(agent(server.url, []));
  const node = [];
  const serving = [];
  const programs = [{ name: "agentcli", ...ours, shows: ready }, ...others(server.url)].map((each) => ({
    cwd,
    env: ours.env,
    ...each,
    times: [],
  }));
  for (let round = 0; round < rounds + 2; round += 1) {
    const empty = await run({ program: process.execPath, args: ["-e", "0"], env: ours.env, cwd });
    const served = await serverStart(plain(agent(server.url, ["app-server"])), cwd);
    if (round >= 2) {
      node.push(empty.wallMs);
      serving.push(served);
    }
    for (const each of programs) {
      const time = await paintTime(each);
      if (round >= 2) each.times.push(time);
    }
  }
  server.close();
  const base = median(serving);
  const [first] = programs;
  return [
    ["first paint", "node -e 0", median(node), "ms", median(node) / base, ""],
    ["first paint", "app-server: first answer", base, "ms", 1, ""],
    ...programs.map(({ name, times }) => [
      "first paint",
      name,
      median(times),
      "ms",
      median(times) / base,
      name === first.name ? "≤ 1.6x, and half of others" : "",
    ]),
  ];
}

/** Variables of this machine can slow down every Node: NODE_EXTRA_CA_CERTS more than doubles its start. */
const plain = ({ env: { PATH, AGENT_HOME }, ...program }) => ({
  ...program,
  env: { PATH, HOME: AGENT_HOME, AGENT_HOME },
});

/** Node and the server, until it answers. */
function serverStart({ program, args, env }, cwd) {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const child = start(program, args, { env, cwd, stdio: ["pipe", "pipe", "ignore"] });
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`app-server: exit ${code} before it answered`)));
    child.stdout.once("data", () => {
      resolve(performance.now() - startedAt);
      child.stdin.end();
    });
    const params = { clientInfo: { name: "bench", version: "1" } };
    child.stdin.write(`${JSON.stringify({ id: 0, method: "initialize", params })}\n`);
  });
}

async function paintTime({ name, program, args, env, cwd, shows }) {
  const startedAt = performance.now();
  const terminal = open({ program, args, env, cwd });
  const exited = new Promise((resolve) => terminal.onExit(resolve));
  let time = 0;
  let text = "";
  const painted = new Promise((resolve) => {
    terminal.onData((piece) => {
      text += piece;
      for (const [question, reply] of questions) if (piece.includes(question)) terminal.write(reply);
      if (time > 0 || !text.includes(shows)) return;
      time = performance.now() - startedAt;
      resolve();
    });
  });
  try {
    await within(Promise.race([painted, exited]), `${name}: first paint`, () => text);
    if (time === 0) throw new Error(`${name} ended before it showed "${shows}":\n${readable(text)}`);
  } finally {
    killTree(terminal.pid);
  }
  await within(exited, `${name}: end`, () => text);
  return time;
}

/** Some programs ask for the position of the cursor and the kind of terminal before they paint. */
const questions = [
  ["\u001b[6n", "\u001b[1;1R"],
  ["\u001b[c", "\u001b[?62;22c"],
];

/** Fails after the limit, with the end of what was on the terminal. */
async function within(promise, what, shown) {
  let timer;
  const late = new Promise((_, reject) => {
    const message = () => `${what}: nothing within ${limitMs / 1000} s. The terminal shows:\n${readable(shown())}`;
    timer = setTimeout(() => reject(new Error(message())), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Without what a terminal obeys. */
const readable = (text) =>
  text
    .replace(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[[<-?]?[\d;:]*[ -/]*[@-~]|\u001b./g, "")
    .replace(/\r/g, "")
    .slice(-2000);

/** Programs of others leave processes behind. */
function killTree(root) {
  for (const { pid } of processTree(root)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It exited.
    }
  }
}

const open = ({ program, args, env, cwd }) =>
  spawn(program, args, { cwd, cols: 80, rows: 30, env: { ...env, TERM: "xterm-256color" } });

/**
 * From the first paint on a key is typed again and again, and timed until it is on the screen. Of that time, the scheduler of Linux
 * says how long the program computed and how long it waited for a core; the rest is the terminal's and the measurement's.
 */
async function underLoad({ agent, cwd, what, reply, text }) {
  const server = await startServer(reply);
  const terminal = open({ ...agent(server.url, ["--sandbox", "workspace-write", "write a lot"]), cwd });
  const echoes = [];
  let written = 0;
  let seen = "";
  let typed = null;
  let peak = 0;
  let typing;
  let lastTextAt = 0;
  let finish = () => {};
  const type = () => {
    // The last words are below the rows that stay before all of these are written.
    if (seen.includes(lastWords) && performance.now() - lastTextAt > restMs) return finish();
    if (typed !== null) return;
    typed = times(terminal.pid);
    terminal.write(mark);
  };
  const over = new Promise((resolve) => {
    finish = resolve;
    terminal.onData((piece) => {
      if (piece.includes(lineStart) || piece.includes(lastWords)) lastTextAt = performance.now();
      written += Buffer.byteLength(piece);
      seen = (seen + piece).slice(-20_000);
      if (typing === undefined && seen.includes(ready)) typing = setInterval(type, 40);
      if (typed !== null && piece.includes(mark)) {
        echoes.push(since(typed, times(terminal.pid)));
        peak = Math.max(peak, memoryMb(terminal.pid));
        typed = null;
        terminal.write("\u0015");
      }
    });
  });
  try {
    await within(over, what, () => seen);
  } finally {
    clearInterval(typing);
    killTree(terminal.pid);
    server.close();
  }
  if (echoes.length === 0) throw new Error(`${what}: no key was echoed. The terminal shows:\n${readable(seen)}`);
  const slowest = (part) => Math.max(...echoes.map((echo) => echo[part]));
  const sorted = echoes.map(({ wallMs }) => wallMs).sort((a, b) => a - b);
  const percentile = (percent) => sorted[Math.ceil((sorted.length * percent) / 100) - 1];
  const echo = `${what}: echo of a key`;
  const rows = [
    [`${echo}, median of ${echoes.length}`, "agentcli", median(sorted), "ms", null, "< 30 ms"],
    [`${echo}, 99th percentile`, "agentcli", percentile(99), "ms", null, "< 30 ms"],
    [`${echo}, slowest`, "agentcli", slowest("wallMs"), "ms", null, "< 30 ms"],
    [`${echo}, most own work`, "agentcli", slowest("workMs"), "ms", null, "< 30 ms"],
    [`${echo}, longest wait for a core`, "agentcli", slowest("waitMs"), "ms", null, ""],
    [`${echo}, longest wait for a core`, "this measurement", slowest("benchMs"), "ms", null, ""],
    [`${what}: peak memory`, "agentcli", peak, "MB", null, ""],
  ];
  if (text === null) return rows;
  return [...rows, [`${what}: bytes written`, "agentcli", written / 1024, "KB", written / text.length, "≤ 2x"]];
}

/** Of the main thread of the program, and of this one. */
const times = (pid) => ({ at: performance.now(), program: scheduled(pid), own: scheduled(process.pid) });

const since = (before, after) => ({
  wallMs: after.at - before.at,
  workMs: after.program.workMs - before.program.workMs,
  waitMs: after.program.waitMs - before.program.waitMs,
  benchMs: after.own.waitMs - before.own.waitMs,
});

/** Not available outside Linux. */
function scheduled(pid) {
  try {
    const [workNs, waitNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ").map(Number);
    return { workMs: workNs / 1e6, waitMs: waitNs / 1e6 };
  } catch {
    return { workMs: Number.NaN, waitMs: Number.NaN };
  }
}

const mark = "ŋ";

function memoryMb(pid) {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
