// A scripted object store that speaks S3 and checks signatures.
export { type FakeS3, startFakeS3 } from "./server.ts";
