// The order of test files: those that take longest for their size come first, so that none runs alone at the end.
// Those that share processes come last, one after the other: a process ends when the next file wants one of its own.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** A clean clone has no times of an earlier run, and Vitest would begin with the largest files. */
const slow = [
  "python/agentcli/run.test.ts",
  "packages/workspace/test/selftest/escapes.test.ts",
  "checks/docs.test.ts",
  "packages/platform/test/repositories/handoff-crash.test.ts",
  "e2e/cli/tasks/tasks.test.ts",
  "packages/platform/test/runs/isolation.test.ts",
  "e2e/platform/serve.test.ts",
  "e2e/cli/faults.test.ts",
  "e2e/platform/disk-full.test.ts",
  "e2e/platform/worker-failures.test.ts",
  "e2e/platform/auth-matrix.test.ts",
  // Not at once with the other of Python: the first of them installs the tools of both.
  "python/platform_sdk/run.test.ts",
  "e2e/platform/operations.test.ts",
  "packages/platform/test/machines/crash.test.ts",
  "packages/platform/test/foundation/embedded.test.ts",
  "packages/platform/test/runs/limits.test.ts",
  "packages/platform/test/environments/builds.test.ts",
  "packages/platform/test/machines/contract.test.ts",
  "e2e/platform/backup.test.ts",
  "packages/platform/test/automations/crash.test.ts",
  "packages/workspace/test/contract/contract.test.ts",
  "packages/models/test/contract.test.ts",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId, project }: TestSpecification) => {
      const rank = slow.findIndex((path) => moduleId.endsWith(`/${path}`));
      if (rank >= 0) return rank;
      return project.config.isolate ? slow.length : slow.length + 1;
    };
    return (await super.sort(files)).sort((one, other) => rankOf(one) - rankOf(other));
  }
}
