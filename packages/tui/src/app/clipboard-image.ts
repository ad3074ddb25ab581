// An image on the clipboard of this machine, attached as a file.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type App, flash, programDirectory, programVariables } from "./state.ts";

/** Of Wayland, X11, macOS and Windows under WSL; the first that prints one. */
const readers = [
  "wl-paste --no-newline --type image/png",
  "xclip -selection clipboard -target image/png -out",
  "pngpaste -",
  `powershell.exe -NoProfile -Command 'Add-Type -AssemblyName System.Windows.Forms; $i = [Windows.Forms.Clipboard]::GetImage(); if ($i) { $i.Save([Console]::OpenStandardOutput(), [Drawing.Imaging.ImageFormat]::Png) }'`,
];

const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
const limits = { timeout: 5000, maxBuffer: 32 * 1024 * 1024 };

export function pasteImage(app: App): void {
  const { agentHome } = app.options;
  const env = programVariables(app);
  for (const reader of readers) {
    const { stdout } = spawnSync("/bin/sh", ["-c", `${reader} 2>/dev/null`], { cwd: programDirectory, env, ...limits });
    if (!stdout?.subarray(0, pngStart.length).equals(pngStart)) continue;
    const directory = join(agentHome, "clipboard");
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const path = join(directory, `${Date.now()}.png`);
    writeFileSync(path, stdout, { mode: 0o600 });
    app.state.images.push(path);
    return;
  }
  flash(
    app,
    "No image was found on the clipboard (wl-paste, xclip or pngpaste reads it). A pasted path attaches a file too.",
  );
}
