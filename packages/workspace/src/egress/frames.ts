// The multiplexer's frame format: type (1 byte), channel (4), length (2), payload.
export interface Frame {
  type: (typeof frameTypes)[number];
  channel: number;
  payload: Buffer;
}

const frameTypes = ["open", "data", "end", "reset", "credit"] as const;
const headerBytes = 7;

export function writeFrame({ type, channel, payload }: Frame): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + payload.length);
  frame.writeUInt8(frameTypes.indexOf(type), 0);
  frame.writeUInt32BE(channel, 1);
  frame.writeUInt16BE(payload.length, 5);
  payload.copy(frame, headerBytes);
  return frame;
}

/** Takes bytes as they arrive, returns the complete frames. Undefined after an invalid frame; unusable from then on. */
export function frameReader(maxPayloadBytes: number): (data: Buffer) => Frame[] | undefined {
  let rest: Buffer = Buffer.alloc(0);
  return (data) => {
    rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
    const frames: Frame[] = [];
    while (rest.length >= headerBytes) {
      const type = frameTypes[rest.readUInt8(0)];
      const length = rest.readUInt16BE(5);
      if (type === undefined || length > maxPayloadBytes) return undefined;
      if (rest.length < headerBytes + length) break;
      frames.push({ type, channel: rest.readUInt32BE(1), payload: rest.subarray(headerBytes, headerBytes + length) });
      rest = rest.subarray(headerBytes + length);
    }
    return frames;
  };
}
