// `npm run bench`: sets up, then measures.
import { setUp } from "./setup.mjs";

await setUp();
await import("../bench/main.mjs");
