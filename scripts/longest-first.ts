// The order of test files: those that take longest for their size come first, so that none runs alone at the end.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** A clean clone has no times of an earlier run, and Vitest would begin with the largest files. */
const slow = [
  "packages/workspace/test/selftest/escapes.test.ts",
  "packages/platform/test/repositories/handoff-crash.test.ts",
  "python/agentcli/run.test.ts",
  "python/platform_sdk/run.test.ts",
  "e2e/platform/auth-matrix.test.ts",
  "e2e/platform/disk-full.test.ts",
  "e2e/cli/tasks/tasks.test.ts",
  "checks/docs.test.ts",
  "packages/platform/test/machines/contract.test.ts",
  "packages/workspace/test/contract/contract.test.ts",
  "packages/models/test/contract.test.ts",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = slow.findIndex((path) => moduleId.endsWith(`/${path}`));
      return rank < 0 ? slow.length : rank;
    };
    return (await super.sort(files)).sort((one, other) => rankOf(one) - rankOf(other));
  }
}
