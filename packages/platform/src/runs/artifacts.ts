// What a run needs of whoever keeps the files that agents leave for people.
import type { DataKey } from "../vault/index.ts";

/** Of which agent, and under which key. */
export interface ArtifactOwner {
  agent: { id: string };
  key: DataKey;
}

/** None of this throws: trouble with artifacts is no trouble of the run, and told to the log. */
export interface Artifacts {
  /** What is taken is gone from there, so this may be called again after a crash. */
  collect(owner: ArtifactOwner, from: string): Promise<void>;
  keep(owner: ArtifactOwner, name: string, content: Buffer): Promise<void>;
  removeAll(agentId: string): Promise<void>;
}
