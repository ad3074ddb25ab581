// Measures whole programs from outside: wall time, CPU time, memory.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
export const minimum = (values) => Math.min(...values);

/** Wall milliseconds from start to exit; `onStart` gets the time of the start. */
export function run({ program, args, env, cwd }, onStart = () => {}) {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    onStart(startedAt);
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let errors = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    child.on("error", reject);
    child.on("exit", (code) => {
      const wallMs = performance.now() - startedAt;
      child.on("close", () =>
        code === 0
          ? resolve({ wallMs, output })
          : reject(new Error(`${program} ${args.join(" ")}: exit ${code}\n${errors}`)),
      );
    });
  });
}

/** CPU milliseconds, user and system, of a program and its children, as bash's `time` measures it. */
export function cpuMs({ program, args, env, cwd }) {
  const script = 'TIMEFORMAT="%U %S"; time "$0" "$@" > /dev/null 2> /dev/null < /dev/null';
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-c", script, program, ...args], { env, cwd, stdio: ["ignore", "ignore", "pipe"] });
    let report = "";
    child.stderr.on("data", (chunk) => {
      report += chunk;
    });
    child.on("close", (code) => {
      const seconds = report.trim().split(" ").map(Number);
      return code === 0
        ? resolve(1000 * (seconds[0] + seconds[1]))
        : reject(new Error(`${program} exited with ${code}`));
    });
  });
}

/** Highest resident memory of a program with all its descendants, in MB, sampled as often as /proc can be read. */
export async function peakMemoryMb({ program, args, env, cwd }) {
  const child = spawn(program, args, { cwd, env, stdio: "ignore" });
  let peak = 0;
  let running = true;
  child.on("exit", () => {
    running = false;
  });
  while (running) {
    peak = Math.max(peak, treeMemoryKb(child.pid));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return peak / 1024;
}

function treeMemoryKb(root) {
  let total = 0;
  for (const { memoryKb } of processTree(root)) total += memoryKb;
  return total;
}

/** A process and its descendants. */
export function processTree(root) {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const status = readFileSync(`/proc/${name}/status`, "utf8");
        const number = (field) => Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
        return [{ pid: Number(name), parent: number("PPid"), memoryKb: number("VmRSS") }];
      } catch {
        // It exited after the listing.
        return [];
      }
    });
  const parents = new Map(all.map(({ pid, parent }) => [pid, parent]));
  return all.filter(({ pid }) => isBelow(pid, root, parents));
}

function isBelow(pid, root, parents) {
  for (let at = pid; at; at = parents.get(at)) if (at === root) return true;
  return false;
}
