// The built platform and its clients: a harness for whole servers, a client of API v1, a receiver of webhooks.
export * from "./client.ts";
export * from "./cluster.ts";
export * from "./database.ts";
export { type DirectoryExecutor, openDirectoryExecutor } from "./directory-executor.ts";
export { openForFile } from "./for-file.ts";
export * from "./harness.ts";
export * from "./http.ts";
export * from "./served.ts";
export * from "./server.ts";
export * from "./webhook-receiver.ts";
export { spawnTestWorker, startTestWorker, type TestWorker, type TestWorkerOptions } from "./worker.ts";
