// Where the rules of a directory are.
import { join } from "node:path";

export const ruleFolder = (directory: string): string => join(directory, ".platform", "rules");
