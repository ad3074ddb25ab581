// A script in JavaScript while it is read: its tree, what was found in it, and how much of the reading is still allowed.
import type { AnyNode } from "acorn";
import { refuse } from "../code-tokens.ts";
import type { Variables } from "../shell-reader.ts";
import type { Binding, Scopes } from "./scopes.ts";
import type { Tree } from "./tree.ts";

export interface Code {
  tree: Tree;
  scopes: Scopes;
  /** Variables of the environment whose values are known. */
  variables: Variables;
  /** Modules of Node that start and load nothing, by the names that they have here. */
  namespaces: Set<Binding>;
  /** The module `process`, where it is imported. */
  processes: Set<Binding>;
  /** By the name of a member, every value that it gets anywhere. */
  stored: Map<string, AnyNode[]>;
  /** By the function, what it returns. */
  returned: Map<AnyNode, AnyNode[]>;
  /** What was read as a text, each node once. */
  texts: Map<AnyNode, string | null>;
  /** Of texts inside of the text that is being read. */
  depth: number;
  /** Taken so far to follow values. */
  steps: number;
}

const maxSteps = 1_000_000;

/** Refuses a script that would take long to read. */
export function takeSteps(code: Code, node: AnyNode, count = 1): void {
  code.steps += count;
  if (code.steps > maxSteps) throw refuse(node.start, "following its values takes more steps than are followed");
}
