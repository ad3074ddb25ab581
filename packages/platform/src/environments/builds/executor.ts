// The port to machines: prepares an environment once, so that machines of agents start from the result.
import type { BuildFailure } from "@agentcli/protocol/api";
import type { EnvironmentFile } from "@agentcli/protocol/environment-file";

export interface BuildExecutor {
  /**
   * Builds from the base to the end of `install`, and makes nothing active. Output of every step goes to `log`, in order,
   * before the call ends. After the crash of a server it is called again for the same build and must discard what the
   * former call left. When the signal aborts it stops all its processes, then returns or throws. Throwing means that the
   * machine itself failed; the build ends FAILED with what was thrown in its log.
   */
  execute(order: BuildOrder, log: BuildLogger, signal: AbortSignal): Promise<BuildOutcome>;
  /** Removes what a build left behind. Of an unknown one, nothing. */
  discard(buildId: string): Promise<void>;
}

/** Takes text as it comes, in pieces of any size. */
export type BuildLogger = (text: string) => void;

export interface BuildOrder {
  buildId: string;
  environmentId: string;
  teamId: number;
  /** The same for the same result. */
  contentKey: string;
  /** With `install` and `start` of this build. */
  config: EnvironmentFile;
  /** What its commands may reach. */
  allowedHosts: string[];
  repositories: BuildRepository[];
  /** Variables of `install` alone: they must not be left in the result. */
  secrets: BuildSecret[];
  /** The files of all commits: `<folder>/<path>`. */
  listFiles(signal: AbortSignal): Promise<string[]>;
  /** Writes the files of all repositories at their commits into `directory`, one folder each. */
  checkOut(directory: string, signal: AbortSignal): Promise<void>;
}

export interface BuildSecret {
  name: string;
  value: string;
}

export interface BuildRepository {
  url: string;
  /** Of its folder. */
  name: string;
  commit: string;
}

export type BuildOutcome =
  /** `output`: what machines are started with. */
  | { status: "succeeded"; output: string }
  /** `output`: where there is enough of it to start machines from. */
  | { status: "failed"; failure: BuildFailure; output?: string };

/** Of a server without machines: no build can claim to have run. */
export const withoutMachines: BuildExecutor = {
  async execute(_order, log) {
    log(
      "Machines are not available on this server, so this build did not run. Ask an administrator to enable a machine provider, then trigger the build again. Agents work in a directory of the server until then, without install and start of this environment.\n",
    );
    return { status: "failed", failure: { type: "TERMINAL_FAILURE", code: "machines_unavailable" } };
  },
  async discard() {},
};
