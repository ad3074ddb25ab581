// What scripted services of AWS share, and the scripted security token service (STS).
export { type AwsKeys, signatureError } from "./signature.ts";
export { type FakeSts, type StsRole, startFakeSts } from "./sts.ts";
