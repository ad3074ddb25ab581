// A pretended GitHub, for whoever talks to the real one.
export { type FakeGithub, startGithub } from "./server.ts";
export type { FakePull, FakeRepository } from "./state.ts";
