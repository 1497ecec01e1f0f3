// The instructions of a payment as the payer has them: a QR code, an account, or an address to go to.
import { Copy } from "../../../ui/copy.tsx";
import { Qr } from "../../../ui/qr.tsx";

/** A kind that is not known here is shown by its value. */
export function HowToPay({ of }: { of: Record<string, unknown> }) {
  const text = (name: string): string | undefined => {
    const value = of[name];
    return typeof value === "string" ? value : undefined;
  };
  const qr = text("qr_string");
  const value = text("value") ?? "";
  const shown = ["bank_name", "account_name", "biller_code", "transfer_code"]
    .map(text)
    .filter((part) => part !== undefined);
  return (
    <>
      {qr !== undefined && (
        <details>
          <summary className="inline-flex min-h-6 items-center text-muted hover:text-ink">QR code</summary>
          <Qr text={qr} label="QR code that the payer scans" size={180} />
        </details>
      )}
      <p className="flex min-w-0 items-center gap-2">
        <code className="truncate font-mono text-xs">{value}</code>
        <Copy text={value} what="the instructions" />
      </p>
      {shown.length > 0 && <p className="text-muted">{shown.join(", ")}</p>}
    </>
  );
}
