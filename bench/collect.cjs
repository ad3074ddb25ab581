// Preloaded into a measured server: at SIGUSR2 it collects garbage and writes the size of the heap to BENCH_HEAP_FILE.
const { writeFileSync } = require("node:fs");

process.on("SIGUSR2", () => {
  globalThis.gc();
  // A second collection frees what the first has only found unreachable, such as the targets of weak references.
  setTimeout(() => {
    globalThis.gc();
    writeFileSync(process.env.BENCH_HEAP_FILE, String(process.memoryUsage().heapUsed));
  }, 1_000);
});
