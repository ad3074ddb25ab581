// The port through which a run stores its artifacts.
import type { DataKey } from "../../foundation/index.ts";

/** The agent and its data key. */
export interface ArtifactOwner {
  agent: { id: string; directory: string };
  key: DataKey;
}

/** No method throws: artifacts that could not be kept are listed on the run, and do not fail it. */
export interface Artifacts {
  /** Moves the files out of the directory, so it can be called again after a crash. */
  collect(owner: ArtifactOwner & { run: { id: string } }, from: string): Promise<void>;
  store(owner: ArtifactOwner, name: string, content: Buffer): Promise<void>;
  /** Of the agent with this directory. */
  removeAll(directory: string): Promise<void>;
}
