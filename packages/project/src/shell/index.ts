export { type Command, type Commands, openShellReader, type ShellReader } from "./commands.ts";
export type { Word } from "./word.ts";
