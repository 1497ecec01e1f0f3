// A QR code as a picture, dark on white in every theme, because cameras need that contrast.
import { encode } from "uqr";

interface Props {
  text: string;
  /** A description for screen readers. */
  label: string;
  /** Width and height in pixels. */
  size?: number;
}

export function Qr({ text, label, size = 200 }: Props) {
  const { data, size: modules } = encode(text, { ecc: "M", border: 2 });
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join("");
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${modules} ${modules}`}
      width={size}
      height={size}
      className="rounded bg-white"
    >
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}
