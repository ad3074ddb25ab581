// Images: what the disks of machines begin with.
export { type Images, openImages } from "./open.ts";
export type { ImageRecord } from "./records.ts";
