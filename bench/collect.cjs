// Loaded into a server that is measured: at SIGUSR2 it collects garbage and says how much is left.
const { writeFileSync } = require("node:fs");

process.on("SIGUSR2", () => {
  globalThis.gc();
  // What a first collection has only marked as unreachable, such as the targets of weak references, goes with a second.
  setTimeout(() => {
    globalThis.gc();
    writeFileSync(process.env.BENCH_HEAP_FILE, String(process.memoryUsage().heapUsed));
  }, 1_000);
});
