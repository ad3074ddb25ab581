// The user namespace in which images are built: root there is a user without rights outside.
import { isRoot } from "./host.ts";
import { layerRange } from "./ids.ts";
import { enterAsRoot, openUserNamespace } from "./user-namespace.ts";

export interface BuilderNamespace {
  /** Goes in front of a command line. Empty for a server without root: bubblewrap makes the namespace. */
  enter: string[];
  /** Who root inside is outside; null: the user of the server. */
  ownerId: number | null;
}

export async function inBuilderNamespace<Result>(
  work: (namespace: BuilderNamespace) => Promise<Result>,
): Promise<Result> {
  if (!isRoot()) return work({ enter: [], ownerId: null });
  const namespace = await openUserNamespace(0, layerRange);
  try {
    return await work({ enter: enterAsRoot(namespace, []), ownerId: layerRange });
  } finally {
    namespace.close();
  }
}
