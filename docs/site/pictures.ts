// Reads the size of pictures, so that a page does not shift when a picture loads. Pure.

export interface Size {
  width: number;
  height: number;
}

/** The size of a PNG or an SVG in pixels; undefined when the file does not say. */
export function sizeOf(bytes: Buffer): Size | undefined {
  const isPng = bytes.length > 24 && bytes.subarray(1, 4).toString("latin1") === "PNG";
  if (isPng) return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  const [, box = ""] = /<svg[^>]*\sviewBox="([^"]+)"/.exec(bytes.subarray(0, 2000).toString("utf8")) ?? [];
  const [, , width = 0, height = 0] = box.split(/[\s,]+/).map(Number);
  return width > 0 && height > 0 ? { width: Math.round(width), height: Math.round(height) } : undefined;
}
