export { go } from "./go.ts";
export { monorepo } from "./monorepo.ts";
export type { Project } from "./project.ts";
export { python } from "./python.ts";
export { rust } from "./rust.ts";
export { typescript } from "./typescript.ts";
