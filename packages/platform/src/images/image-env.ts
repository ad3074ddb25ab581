// The environment variables of an image, from the description that its build left. Commands of the build can write there: a link,
// a pipe or a device in its stead is not opened, and no error quotes what was read.
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { openFile } from "../foundation/index.ts";
import { ImageFault } from "./image-fault.ts";

/** In the directory of the build. */
export const imageDescription = "image.json";

/** buildah writes the history too; one of a thousand steps stays far below. */
const maxBytes = 16 * 1024 ** 2;

const ImageConfig = z.object({ OCIv1: z.object({ config: z.object({ Env: z.array(z.string()).nullish() }) }) });

/** Names that the shell would not take are left out. Throws ImageFault. */
export async function readEnv(directory: string): Promise<Record<string, string>> {
  const { data } = ImageConfig.safeParse(parse(await readText(join(directory, imageDescription))));
  if (data === undefined) throw unreadable();
  const pairs = (data.OCIv1.config.Env ?? []).flatMap((entry) => {
    const [, name, value] = /^([A-Za-z_]\w*)=([^\0]*)$/.exec(entry) ?? [];
    return name !== undefined && value !== undefined ? [[name, value] as const] : [];
  });
  return Object.fromEntries(pairs);
}

async function readText(path: string): Promise<string> {
  const stats = await lstat(path).catch(() => null);
  const file = stats?.isFile() ? await openFile({ stats, address: Buffer.from(path) }) : null;
  if (file === null) throw unreadable();
  try {
    if ((await file.stat()).size > maxBytes) throw unreadable();
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const unreadable = () =>
  new ImageFault("buildah left no description of the image, or a command of the Dockerfile replaced it.");
