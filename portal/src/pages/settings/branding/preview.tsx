// The head of a payer's page as it looks now. A picture of it and no page: nothing in it can be pressed.
import type { Schema } from "../../../api/types.ts";
import { Money } from "../../../ui/money.tsx";

const DEFAULT_COLOUR = "#15803d";

export function Preview({ settings }: { settings: Schema<"MerchantSettings"> }) {
  const { name, logo, currencies } = settings;
  const colour = settings.colour ?? DEFAULT_COLOUR;
  const { currency = "IDR", exponent = 2 } = currencies[0] ?? {};
  return (
    <div className="max-w-sm space-y-3 rounded-2xl border border-line bg-panel p-6">
      {logo && (
        <img
          src={logo.url}
          width={logo.width}
          height={logo.height}
          alt="Your logo"
          className="h-auto max-h-16 w-auto max-w-40"
        />
      )}
      <p className="text-xl font-semibold break-words">Pay {name}</p>
      <p className="text-xl">
        <Money of={{ amount_minor: 7_500_000, currency, exponent }} />
      </p>
      {/* Drawn, because a colour that somebody chose is in no style sheet. */}
      <svg viewBox="0 0 320 48" role="img" aria-label={`The button, in ${colour}`} className="w-full">
        <rect width="320" height="48" rx="9" fill={colour} />
        <text x="160" y="30" textAnchor="middle" fontSize="16" fill={inkOn(colour)}>
          Pay
        </text>
      </svg>
    </div>
  );
}

/** Black or white, whichever is read better on a colour, as payer pages choose it. */
function inkOn(colour: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}
