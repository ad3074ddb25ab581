// Removes trailing spaces from an edited file and ends it with one newline.
// Call a formatter here only by a path outside of the repository: an agent can change programs inside of it.
import { readFileSync, writeFileSync } from "node:fs";

const { file_path: path } = JSON.parse(readFileSync(0, "utf8"));
const isText = /\.(?:[cm]?[jt]sx?|css|go|html|java|json|py|rb|rs|sh|sql|toml|ya?ml)$/.test(path ?? "");
if (isText) {
  const text = readFileSync(path, "utf8");
  const formatted = `${text.replace(/[ \t]+$/gm, "").replace(/\n+$/, "")}\n`;
  if (formatted !== text) writeFileSync(path, formatted);
}
console.log("{}");
