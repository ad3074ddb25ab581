// Images: what the disks of machines begin with.
export { ImageFault } from "./image-fault.ts";
export { type Images, openImages } from "./open.ts";
export type { ImageRecord } from "./records.ts";
