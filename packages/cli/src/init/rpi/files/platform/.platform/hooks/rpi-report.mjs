// Saves what a subagent reported as docs/rpi/reports/TYPE-ID.md.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const report = JSON.parse(readFileSync(0, "utf8"));
const folder = join(process.env.PLATFORM_PROJECT_DIR ?? ".", "docs/rpi/reports");
const name = `${report.subagent_type}-${report.subagent_id}`.replace(/[^\w-]+/g, "-").slice(0, 100);
mkdirSync(folder, { recursive: true });
writeFileSync(
  join(folder, `${name}.md`),
  `# ${report.subagent_type}\n\n${report.task ?? ""}\n\n${report.summary ?? ""}\n`,
);
console.log("{}");
