// The version of this program, from its package file.
import packageFile from "../package.json" with { type: "json" };

export const { version } = packageFile;
