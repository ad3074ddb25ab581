// `npm run test:stability`: runs the tests three times beside a load generator. Fails if a test file is unstable.
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { setUp } from "./setup.mjs";
import { runTests } from "./vitest-run.mjs";

const runs = 3;

await setUp();
const load = Array.from({ length: availableParallelism() }, () => new Worker("for (;;);", { eval: true }));
const results = Array.from({ length: runs }, () => runTests(process.argv.slice(2)));
await Promise.all(load.map((worker) => worker.terminate()));

const unstable = [...new Set(results.flatMap((result) => result.unstable))];
const failed = results.filter(({ status }) => status !== 0).length;
console.log(`\n${runs} runs, ${failed} failed. Unstable test files: ${unstable.join(", ") || "none"}`);
process.exitCode = failed === 0 && unstable.length === 0 ? 0 : 1;
