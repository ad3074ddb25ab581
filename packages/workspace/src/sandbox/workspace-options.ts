// What the host chooses for a workspace, beside its policy.
import type { Denial, Placeholders, Traffic } from "../egress/index.ts";
import type { Environment, EnvironmentPolicy } from "../environment/index.ts";
import type { ResourceLimits } from "../limits/index.ts";
import type { BackEnd } from "./back-end.ts";
import type { MachineDisk } from "./machine-disk.ts";

export interface WorkspaceOptions {
  /** The built server: one file that Node can run. */
  serverProgram: string;
  /** The Node that runs it; this one when absent. */
  nodePath?: string;
  /** The environment of every tool; see toolEnvironment. */
  env: Environment;
  /** The user's own environment: which settings the user's git has. That of the tools when absent. */
  userVariables?: Readonly<Record<string, string | undefined>>;
  incarnation: string;
  /** As probed; bubblewrap from PATH when absent. */
  backEnd?: BackEnd;
  warmLoginShell?: string;
  /** False: no command gets the environment of a login shell, whatever it asks for. */
  allowLoginShell?: boolean;
  /** Where the build caches of projects are; without it, commands have none. */
  cacheDirectory?: string;
  /** Where runs note that their workspace is still to be searched for new repositories; without it, none does. */
  unfinishedRuns?: string;
  /** Which variables of a login shell tools get. */
  environmentPolicy?: EnvironmentPolicy;
  /** Called for every connection the proxy refused. */
  onDenied?(denial: Denial): void;
  /** Called when a connection that the proxy allowed has ended. */
  onTraffic?(traffic: Traffic): void;
  /** What the list of allowed domains is called in messages; absent: allowed_domains. */
  allowlistName?: string;
  /** Secrets that the proxy puts into requests; without it, it looks into none. */
  placeholders?: Placeholders | undefined;
  /** None when absent. */
  limits?: ResourceLimits;
  /** The machine that the sandbox is in, mounted when it is opened; without it the host. Its limits hold instead. */
  disk?(): Promise<MachineDisk>;
}
