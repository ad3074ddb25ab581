// A fake GitHub for tests of its clients.
export { type FakeGithub, startGithub } from "./server.ts";
export type { FakeAccount, FakePull, FakeRepository } from "./state.ts";
