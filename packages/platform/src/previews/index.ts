// What other groups may use of previews.
export { openPreviews, type PreviewsOptions } from "./open.ts";
