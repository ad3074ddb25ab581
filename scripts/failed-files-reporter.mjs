// A reporter of vitest: writes which test files failed, for the script that runs them again.
import { writeFileSync } from "node:fs";

export default class FailedFilesReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const files = modules.filter((module) => !module.ok()).map((module) => module.relativeModuleId);
    writeFileSync(process.env.FAILED_FILES_REPORT, JSON.stringify({ files, unhandledErrors: unhandledErrors.length }));
  }
}
