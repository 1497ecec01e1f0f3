// The QR code of a link as a picture file, large enough for print.
import { encode } from "uqr";
import { save } from "../../ui/download.ts";

/** Pixels of one module. */
const MODULE = 16;

/** Saves it as PNG. `name`: what the file is called, as far as a file's name may say it. */
export function saveQr(text: string, name: string): void {
  const { data, size } = encode(text, { ecc: "M", border: 4 });
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size * MODULE;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = "#000";
  for (const [y, row] of data.entries())
    for (const [x, dark] of row.entries()) if (dark) context.fillRect(x * MODULE, y * MODULE, MODULE, MODULE);
  const file = name.replaceAll(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "payment-link";
  canvas.toBlob((picture) => picture && save(picture, `${file}.png`));
}
