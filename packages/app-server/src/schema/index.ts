// The protocol of the app server as files for other programs.
export { jsonSchemaFiles } from "./json-files.ts";
export { typescriptFiles } from "./typescript-files.ts";
export { writeFiles } from "./write.ts";
