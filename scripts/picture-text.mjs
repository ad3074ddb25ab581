// What a picture shows, as a text inside of the picture file: a test can see whether the program still shows it.
import { readFileSync, writeFileSync } from "node:fs";

const keyword = "Description";
const signatureBytes = 8;
const lastChunkBytes = 12;

/** Adds the text as a chunk before the last one of a PNG file. */
export function writePictureText(file, text) {
  const png = readFileSync(file);
  const data = Buffer.concat([Buffer.from(`${keyword}\0\0\0\0\0`), Buffer.from(text)]);
  const named = Buffer.concat([Buffer.from("iTXt"), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(named));
  const end = png.length - lastChunkBytes;
  writeFileSync(file, Buffer.concat([png.subarray(0, end), length, named, checksum, png.subarray(end)]));
}

/** Null where the picture has none. */
export function readPictureText(file) {
  const png = readFileSync(file);
  for (let at = signatureBytes; at + lastChunkBytes <= png.length; ) {
    const length = png.readUInt32BE(at);
    const data = png.subarray(at + 8, at + 8 + length);
    const isText = png.toString("latin1", at + 4, at + 8) === "iTXt" && data.toString("latin1").startsWith(keyword);
    if (isText) return data.subarray(keyword.length + 5).toString("utf8");
    at += length + lastChunkBytes;
  }
  return null;
}

/** Of PNG; zlib has it from Node 22 on. */
function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
