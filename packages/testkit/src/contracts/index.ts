export { type StoreHarness, sessionStoreContract } from "./session-store.ts";
