// Preloaded into a measured server: at SIGUSR2 it collects garbage and writes the size of the heap, and how many programs it has
// started, to BENCH_HEAP_FILE.
const childProcess = require("node:child_process");
const { appendFileSync, writeFileSync } = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");

let started = 0;
const { spawn } = childProcess;
childProcess.spawn = (program, args, options) => {
  started += 1;
  if (process.env.BENCH_PROGRAM_LOG)
    appendFileSync(process.env.BENCH_PROGRAM_LOG, `${JSON.stringify([program, ...args]).slice(0, 2000)}\n`);
  return spawn(program, args, options);
};
syncBuiltinESMExports();

process.on("SIGUSR2", () => {
  globalThis.gc();
  // A second collection frees what the first has only found unreachable, such as the targets of weak references.
  setTimeout(() => {
    globalThis.gc();
    const heapBytes = process.memoryUsage().heapUsed;
    writeFileSync(process.env.BENCH_HEAP_FILE, JSON.stringify({ heapBytes, started }));
  }, 1_000);
});
